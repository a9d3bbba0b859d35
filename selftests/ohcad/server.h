/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device under test as a child process.  Its log goes to a file, which server_stop() prints
 * when the device did not end normally (it also has the report of a sanitizer).
 */

#ifndef SELFTESTS_OHCAD_SERVER_H
#define SELFTESTS_OHCAD_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#define SERVER_MAX_HCAS 8

/**
 * struct server - a running device
 * @pid: 0: it was killed
 * @dir: its temporary directory
 * @sock: path of each HCA's socket
 * @control: path of the control socket, empty if there is none
 * @held_keeper: its keeper, which is stopped where it begins; 0 if that runs
 */
struct server {
	pid_t pid;
	char dir[64];
	char log[80];
	char sock[SERVER_MAX_HCAS][80];
	char control[80];
	unsigned int num_hcas;
	pid_t held_keeper;
};

/*
 * Run ohcad (environment OHCAD) with @num_hcas HCAs with MAC addresses from 02:00:00:00:00:01 on.
 * With OHCAD_LINK=ib in the environment the ports are InfiniBand ports.  Returns when all of them
 * accept connections.  Ends the program on failure.
 */
struct server *server_start(unsigned int num_hcas);
/* One HCA, whose device memory may be mapped. */
struct server *server_start_mapping(void);
/*
 * One HCA, whose keeper is stopped before it has done anything, as on a busy host.  It goes on
 * after server_release_keeper().
 */
struct server *server_start_held_keeper(void);
void server_release_keeper(struct server *server);
/* One HCA, which logs the rules that software breaks. */
struct server *server_start_strict(void);
/* The same for the test device (environment TESTDEV), which has one function. */
struct server *server_start_testdev(void);

/*
 * The InfiniBand subnet of the net file with this @text (NULL: one switch), with an HCA for each of the @hcas, which are
 * options without the socket; NULL ends them.
 */
struct server *server_start_topology(const char *text, const char *const hcas[]);

/* Any program; it is ready when there is a socket at @path, which server_stop() does not remove. */
struct server *server_start_argv(const char *const argv[], const char *path);

/*
 * Run @argv with its output in a log; returns the wait status.  The first @max bytes of the log go
 * to @out.
 */
int server_run(const char *const argv[], char *out, size_t max);

/*
 * SIGTERM; true if it then exits with status 0, or was killed before by server_kill(), and it has used
 * no system call that the sandbox does not know.  Removes the directory.
 */
bool server_stop(struct server *server);
/* SIGKILL; returns when it is dead. */
void server_kill(struct server *server);
/*
 * A descriptor (pidfd) of the keeper, its child process, while it lives; *@pid is its process ID if
 * not NULL.
 */
int server_keeper(const struct server *server, pid_t *pid);

/* Returns when it sleeps: everything sent to it before has been processed as far as possible. */
void server_wait_idle(const struct server *server);

/* Open descriptors and memory mappings of the device. */
unsigned int server_count_fds(const struct server *server);
unsigned int server_count_fds_of(pid_t pid);
unsigned int server_count_maps(const struct server *server);
/* Wait until the device has so many mappings: it unmaps memory in parts. */
void server_wait_maps(const struct server *server, unsigned int num);
/* Does the log have a line with @text? */
bool server_logged(const struct server *server, const char *text);

#endif
