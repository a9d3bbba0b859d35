/* SPDX-License-Identifier: GPL-2.0 */
/* What is going on in a device: looks at it, and the rates between two of them. */

#ifndef OHCACTL_SAMPLE_H
#define OHCACTL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <json-c/json.h>

#define SAMPLE_REPLIES 5

/**
 * struct sample_hca - an adapter
 * @in_error: its queue pairs in the error state
 */
struct sample_hca {
	const char *name;
	const char *state;
	bool connected;
	bool latency;
	uint64_t broken_rules;
	unsigned int qps;
	unsigned int in_error;
};

enum port_value {
	PORT_TX_BYTES,
	PORT_RX_BYTES,
	PORT_TX_PACKETS,
	PORT_RX_PACKETS,
	PORT_RETRIES,
	PORT_ERRORS,
	PORT_DROPS,
	PORT_VALUES
};

/**
 * struct sample_port - a port
 * @name: its adapter's
 * @counters: all of its counters, by name
 * @value: sums of these; in @rate for each second since the sample before
 */
struct sample_port {
	const char *name;
	unsigned int number;
	const char *link;
	const char *state;
	struct json_object *counters;
	uint64_t value[PORT_VALUES];
	double rate[PORT_VALUES];
};

enum qp_value {
	QP_SENT,
	QP_RECEIVED,
	QP_MESSAGES,
	QP_RETRIES,
	QP_ERRORS,
	QP_VALUES
};

/**
 * struct sample_qp - a queue pair
 * @name: its adapter's
 * @hca: number of that in the sample
 * @value: since it was created; messages modulo 2^32 of each queue, so that only differences make sense
 * @rate: for each second since the sample before
 * @measured: number of latencies, in ns; 0: there are none
 * @p99: 0: longer than can be measured
 * @is_new: the sample before had none of that number
 */
struct sample_qp {
	const char *name;
	unsigned int hca;
	uint32_t number;
	const char *type;
	const char *state;
	uint32_t sq, rq;
	uint64_t value[QP_VALUES];
	double rate[QP_VALUES];
	uint64_t measured, mean, p99;
	bool is_new;
};

/**
 * struct sample - a look at the device.  Its strings are those of the replies
 * @time: in seconds since 1970
 * @seconds: since the sample before; 0: there was none
 * @qps: by adapter and number, until sample_sort()
 */
struct sample {
	double time;
	double seconds;
	double clock;
	const char *interface;
	uint64_t pid;
	struct sample_hca *hcas;
	struct sample_port *ports;
	struct sample_qp *qps;
	unsigned int num_hcas, num_ports, num_qps;
	struct json_object *replies[SAMPLE_REPLIES];
};

/* By which value queue pairs are sorted */
struct sample_key {
	const char *name;
	int (*compare)(const void *a, const void *b);
};

/* The keys; the first one is the default, one without a name ends them */
extern const struct sample_key sample_keys[];
/* The key of this name, or NULL */
const struct sample_key *sample_key(const char *name);

/*
 * Look at the device at the other end of @fd: at adapter @hca, or at all with NULL.  Rates are those since @before, which may be
 * NULL and has to be of the same adapters.  Returns NULL after an error, which is printed; then *@status is the exit status.
 */
struct sample *sample_take(int fd, const char *hca, const struct sample *before, int *status);
/* The same after so many seconds */
struct sample *sample_next(int fd, const char *hca, double seconds, const struct sample *before,
			   int *status);
void sample_free(struct sample *sample);

/* What a counter has grown by; one that is less than before has begun again. */
uint64_t sample_since(uint64_t now, uint64_t before);
/* Which of two queue pairs comes first in sample->qps: less than, equal to or greater than 0, as strcmp() */
int sample_order(const struct sample_qp *a, const struct sample_qp *b);
/* A clock, in seconds */
double sample_clock(clockid_t id);

/* Pointers to its queue pairs, those with the greatest value first; the caller frees the array.  NULL: no memory */
const struct sample_qp **sample_sort(const struct sample *sample, const struct sample_key *key);

#endif
