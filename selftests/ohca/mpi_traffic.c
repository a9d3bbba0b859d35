// SPDX-License-Identifier: GPL-2.0
/*
 * An MPI program: messages around a ring, reductions over all processes, and one-sided access to
 * memory.  All data are compared.  The argument selects the part; the exit status is 0 if all data
 * were right in all processes.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS (1 << 18) /* 2 MiB: eager and rendezvous protocols, and fragments */
#define ROUNDS 4
#define ADDS 50

static int rank, ranks;
static uint64_t *out, *in;

/* The word at @i of the message of process @of in @round. */
static uint64_t word(int of, int round, int i)
{
	return ((uint64_t)(of + 1) << 40 | (uint64_t)round << 32) + (uint64_t)i * 2654435761U;
}

static void fill(uint64_t *buf, int words, int round)
{
	for (int i = 0; i < words; i++)
		buf[i] = word(rank, round, i);
}

static bool same(const uint64_t *buf, int words, int of, int round)
{
	for (int i = 0; i < words; i++) {
		if (buf[i] != word(of, round, i)) {
			fprintf(stderr, "process %d: word %d of %d from %d is %#llx, not %#llx\n",
				rank, i, words, of, (unsigned long long)buf[i],
				(unsigned long long)word(of, round, i));
			return false;
		}
	}
	return true;
}

/* Each process sends to the next one and receives from the one before. */
static bool ring(void)
{
	int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;

	for (int words = 0; words <= MAX_WORDS; words = words ? words * 4 : 1) {
		for (int round = 0; round < ROUNDS; round++) {
			MPI_Status status;
			int got;

			fill(out, words, round);
			memset(in, 0, words * sizeof(*in));
			MPI_Sendrecv(out, words, MPI_UINT64_T, next, round, in, words, MPI_UINT64_T,
				     prev, round, MPI_COMM_WORLD, &status);
			MPI_Get_count(&status, MPI_UINT64_T, &got);
			if (got != words || !same(in, words, prev, round))
				return false;
		}
	}
	return true;
}

static bool allreduce(void)
{
	for (int words = 1; words <= MAX_WORDS; words *= 8) {
		for (int round = 0; round < ROUNDS; round++) {
			fill(out, words, round);
			MPI_Allreduce(out, in, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
			for (int i = 0; i < words; i++) {
				uint64_t sum = 0;

				for (int of = 0; of < ranks; of++)
					sum += word(of, round, i);
				if (in[i] != sum) {
					fprintf(stderr, "process %d: sum %d of %d is wrong\n", rank,
						i, words);
					return false;
				}
			}
		}
	}
	return true;
}

/*
 * Each process writes into the next one's memory, checks both, and all increment a counter of
 * process 0.
 */
static bool window(void)
{
	const uint64_t one = 1;
	int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;
	uint64_t *memory, *counter, before, last = 0;
	MPI_Win win, count;
	bool good = true;

	MPI_Win_allocate(MAX_WORDS * sizeof(*memory), sizeof(*memory), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &memory, &win);
	MPI_Win_allocate(sizeof(*counter), sizeof(*counter), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &counter, &count);
	*counter = 0;
	for (int words = 1, round = 0; words <= MAX_WORDS; words *= 8, round++) {
		fill(out, words, round);
		MPI_Win_fence(0, win);
		MPI_Put(out, words, MPI_UINT64_T, next, 0, words, MPI_UINT64_T, win);
		MPI_Win_fence(0, win);
		good &= same(memory, words, prev, round);
		memset(in, 0, words * sizeof(*in));
		MPI_Get(in, words, MPI_UINT64_T, next, 0, words, MPI_UINT64_T, win);
		MPI_Win_fence(0, win);
		good &= same(in, words, rank, round);
	}

	/* The values before each addition increase, and the last one is the number of additions. */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, count);
	for (int i = 0; i < ADDS; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, 0, MPI_SUM, count);
		MPI_Win_flush(0, count);
		good &= !i || before > last;
		last = before;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Fetch_and_op(NULL, &before, MPI_UINT64_T, 0, 0, MPI_NO_OP, count);
	MPI_Win_unlock_all(count);
	if (before != (uint64_t)ADDS * ranks) {
		fprintf(stderr, "process %d: %llu additions\n", rank, (unsigned long long)before);
		good = false;
	}
	MPI_Win_free(&count);
	MPI_Win_free(&win);
	return good;
}

static const struct {
	const char *name;
	bool (*run)(void);
} kinds[] = {{"ring", ring}, {"allreduce", allreduce}, {"window", window}};

int main(int argc, char **argv)
{
	int good = -1, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	out = calloc(MAX_WORDS, sizeof(*out));
	in = calloc(MAX_WORDS, sizeof(*in));
	for (size_t i = 0; argc == 2 && out && in && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name))
			good = kinds[i].run();
	}
	if (good < 0) {
		fprintf(stderr, "usage: mpi_traffic ring|allreduce|window\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!rank)
		printf("%s of %d processes: %s\n", argv[1], ranks,
		       all ? "all as it should be" : "wrong");
	free(out);
	free(in);
	MPI_Finalize();
	return all ? 0 : 1;
}
