// SPDX-License-Identifier: GPL-2.0
/*
 * Executes inputs of a fuzz target, once each; a sanitizer's report ends it.
 *
 *   replay FILE|DIRECTORY...   these, after those that the target makes by itself
 *   replay --seeds DIRECTORY   only writes the latter there
 */

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target.h"

static const char *seeds_dir;
static unsigned int num_inputs;

__attribute__((noreturn)) static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* The input is in memory of exactly its length. */
static void execute(const char *name, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ?: 1);

	if (!copy)
		die("replay");
	if (len)
		memcpy(copy, data, len);
	printf("# %s\n", name);
	fuzz_one(copy, len);
	free(copy);
	num_inputs++;
}

static void write_seed(const char *name, const struct seed *seed)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", seeds_dir, name);
	file = fopen(path, "w");
	if (!file || fwrite(seed->bytes, 1, seed->len, file) != seed->len || fclose(file))
		die(path);
}

/* The seeds are built with another device: all of them, before the first one is executed. */
#define MAX_SEEDS 512
static struct {
	char name[64];
	uint8_t *bytes;
	size_t len;
} seeds[MAX_SEEDS];
static unsigned int num_seeds;

static void keep_seed(const char *name, const struct seed *seed)
{
	if (num_seeds == MAX_SEEDS)
		die("too many seeds");
	snprintf(seeds[num_seeds].name, sizeof(seeds[0].name), "%s", name);
	seeds[num_seeds].bytes = malloc(seed->len ?: 1);
	seeds[num_seeds].len = seed->len;
	if (!seeds[num_seeds].bytes)
		die(name);
	memcpy(seeds[num_seeds++].bytes, seed->bytes, seed->len);
}

static void execute_file(const char *path)
{
	static uint8_t data[1U << 20];
	FILE *file = fopen(path, "r");
	size_t len;

	if (!file)
		die(path);
	len = fread(data, 1, sizeof(data), file);
	fclose(file);
	execute(path, data, len);
}

static void execute_all(const char *path)
{
	struct dirent **names;
	struct stat st;
	char file[512];
	int i, num;

	if (stat(path, &st))
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		execute_file(path);
		return;
	}
	num = scandir(path, &names, NULL, alphasort);
	if (num < 0)
		die(path);
	for (i = 0; i < num; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (*names[i]->d_name != '.')
			execute_file(file);
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "--seeds")) {
		seeds_dir = argv[2];
		fuzz_seeds(write_seed);
		return 0;
	}
	alarm(300);
	printf("TAP version 13\n1..1\n");
	fuzz_seeds(keep_seed);
	for (i = 0; i < num_seeds; i++) {
		execute(seeds[i].name, seeds[i].bytes, seeds[i].len);
		free(seeds[i].bytes);
	}
	for (i = 1; i < (unsigned int)argc; i++)
		execute_all(argv[i]);
	printf("ok 1 - %u inputs, %u of them the target's own\n", num_inputs, num_seeds);
	return 0;
}
