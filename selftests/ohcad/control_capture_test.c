// SPDX-License-Identifier: GPL-2.0
/* Captures of a running device: started, queried and stopped by the control socket. */

#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "pcapng_file.h"

static char path[96], args[160];

static void begin(const char *more)
{
	snprintf(path, sizeof(path), "%s/file", server->dir);
	snprintf(args, sizeof(args), "{\"file\":\"%s\"%s}", path, more);
	ctl_do(server, "capture-start", args);
}

static void assert_state(const char *state)
{
	struct json_object *result = ctl_call(server, "capture-show", NULL);

	assert_string_equal(ctl_string(result, "state"), state);
	json_object_put(result);
}

/* Messages before, during and after a capture. */
static void test_capture(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {5001, 1, 2, 2, 3};
	struct json_object *result;
	struct pf *pf;

	(void)state;
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	begin("");
	pair_check_message(&p, OHCA_OP_RDMA_READ, &l, 2);
	result = ctl_call(server, "capture-stop", NULL);
	pair_check_message(&p, OHCA_OP_SEND, &l, 3);
	pf = pf_read(path);
	/* A request and five responses of 1024 bytes, each twice */
	assert_int_equal(pf->num, 12);
	assert_int_equal(ctl_number(result, "packets"), 12);
	assert_int_equal(ctl_number(result, "dropped"), 0);
	assert_int_equal(ctl_number(result, "bytes"), pf->size);
	assert_string_equal(ctl_string(result, "state"), "stopped");
	assert_string_equal(ctl_string(result, "file"), path);
	assert_state("stopped");
	json_object_put(result);
	pf_free(pf);
	unlink(path);
	rig_close(p.rig);
}

static void test_limits(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {100000, 1, 2, 2, 3};
	struct pf *pf;

	(void)state;
	begin(",\"snaplen\":1000,\"limit\":65536");
	assert_state("running");
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, 1);
	assert_state("full");
	pf = pf_read(path);
	assert_true(pf->size <= 65536);
	assert_int_equal(pf->ifs[0].snaplen, 1000);
	pf_free(pf);
	unlink(path);
	rig_close(p.rig);
}

static void test_errors(void **state)
{
	(void)state;
	assert_true(ctl_fails(server, "capture-stop", NULL, "ENOENT", "no capture"));
	assert_true(ctl_fails(server, "capture-start", "{}", "EINVAL", "needs the argument file"));
	assert_true(ctl_fails(server, "capture-start", "{\"file\":\"/none/x\"}", "ENOENT",
			      "/none/x: No such file"));
	assert_true(
		ctl_fails(server, "capture-start", "{\"file\":\"\"}", "ENOENT", "No such file"));
	assert_true(ctl_fails(server, "capture-start", "{\"file\":\"/tmp/x\",\"limit\":1}",
			      "EINVAL", "limit"));
	assert_true(ctl_fails(server, "capture-start",
			      "{\"file\":\"/tmp/x\",\"snaplen\":4294967392}", "EINVAL", "snaplen"));
	begin("");
	assert_true(ctl_fails(server, "capture-start", args, "EBUSY", "already"));
	ctl_do(server, "capture-stop", NULL);
	unlink(path);
}

/* A device that ends with a capture under way completes its file. */
static void test_end(void **state)
{
	char file[] = "/tmp/ohcad-capture.XXXXXX", text[128], theirs[96];
	struct server *other = server_start(1);
	struct pf *pf;

	(void)state;
	close(mkstemp(file));
	unlink(file);
	snprintf(theirs, sizeof(theirs), "%s/file", other->dir);
	snprintf(text, sizeof(text), "{\"file\":\"%s\"}", theirs);
	ctl_do(other, "capture-start", text);
	/* Its folder goes with it. */
	assert_int_equal(link(theirs, file), 0);
	unlink(theirs);
	assert_true(server_stop(other));
	pf = pf_read(file);
	assert_int_equal(pf->num_ifs, 1);
	assert_string_equal(pf->ifs[0].name, "hca0");
	assert_true(pf->ifs[0].stats);
	pf_free(pf);
	unlink(file);
}

static void test_none(void **state)
{
	(void)state;
	assert_state("none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),   cmocka_unit_test(test_capture),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_end),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
