// SPDX-License-Identifier: GPL-2.0
/* Drawings of ohcactl: "show topology --dot" and --svg. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "harness.h"
#include "rig.h"

#define MANY 160 /* HCAs, for a large subnet */

static const char *ohcactl;
static char out[1 << 18];

/* Run a command of a shell, with the tool as $0 and the socket as $1; returns its exit status. */
static int shell(const struct server *at, const char *command)
{
	const char *argv[] = {"/bin/sh", "-c", command, ohcactl, at->control, NULL};
	int status = server_run(argv, out, sizeof(out));

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void draw(const struct server *at)
{
	if (shell(at, "\"$0\" -s \"$1\" show topology --dot"))
		fail_msg("%s", out);
}

static void assert_drawn(const char *text)
{
	if (!strstr(out, text))
		fail_msg("'%s' is not in: %s", text, out);
}

static void assert_not_drawn(const char *text)
{
	if (strstr(out, text))
		fail_msg("'%s' is in: %s", text, out);
}

/* graphviz reads it; without graphviz nothing is tested. */
static void assert_canonical(const struct server *at)
{
	if (shell(at, "command -v dot"))
		return;
	if (shell(at, "\"$0\" -s \"$1\" show topology --dot | dot -Tcanon"))
		fail_msg("%s", out);
	assert_drawn("graph subnet {");
}

/* Two leaves, a spine, and two HCAs */
static const char tree[] = "Switch 4 \"leaf0\"\n[1] \"A\"\n[3] \"spine\"[1]\n[4] \"spine\"[2]\n"
			   "Switch 4 \"leaf1\"\n[1] \"B\"\n[3] \"spine\"[3]\n"
			   "Switch 4 \"spine\"\n[1] \"leaf0\"[3]\n[2] \"leaf0\"[4]\n[3] "
			   "\"leaf1\"[3]\n"
			   "Ca 1 \"A\"\n[1] \"leaf0\"[1]\nCa 1 \"B\"\n[1] \"leaf1\"[1]\n";

static void test_tree(void **state)
{
	static const char *const hcas[] = {"mac=02:00:00:00:00:09,link=ib,node=B", NULL};
	struct server *at = server_start_topology(tree, hcas);

	(void)state;
	draw(at);
	assert_drawn("layout=dot\n");
	assert_drawn("{rank=same; \"leaf0\"; \"leaf1\"}\n\t{rank=same; \"spine\"}\n");
	assert_drawn("\t\"spine\" -- \"leaf0\" [color=\"#f08c00\" label=\"Initialize\\n4x EDR\" "
		     "taillabel=\"2\" headlabel=\"4\"");
	assert_drawn("\t\"leaf1\" -- \"B\" [");
	assert_drawn("tooltip=\"A: idle HCA\"");
	assert_drawn("[label=\"B\\nhca0\" shape=ellipse");
	assert_drawn("tooltip=\"B: HCA without a machine\"");
	ctl_do(at, "cable", "{\"node\":\"spine\",\"port\":2,\"state\":\"down\"}");
	draw(at);
	assert_drawn("\t\"spine\" -- \"leaf0\" [color=\"#c51b1b\" style=dashed label=\"Down\" "
		     "taillabel=\"2\"");
	ctl_do(at, "node", "{\"node\":\"leaf1\",\"state\":\"down\"}");
	draw(at);
	assert_drawn("[label=\"leaf1\\ndown\" shape=box style=\"filled,dashed\"");
	assert_drawn("\t\"leaf1\" -- \"B\" [color=\"#c51b1b\" style=dashed label=\"Down\"");
	assert_canonical(at);
	assert_true(server_stop(at));
}

/* Two machines, and a bad cable */
static void test_active(void **state)
{
	struct server *at;
	struct rig *rig;
	char node[64];

	(void)state;
	setenv("OHCAD_LINK", "ib", 1);
	at = server_start(2);
	rig = rig_open(at);
	ctl_do(at, "fault-add", "{\"rule\":\"link-error=recovery,hca=hca1,num=5\"}");
	draw(at);
	snprintf(node, sizeof(node), "\t\"hca0\" [label=\"hca0\\nLID %u\" ", rig->hca[0].lid);
	assert_drawn(node);
	assert_drawn("tooltip=\"hca0: HCA with a machine\"");
	assert_drawn("\t\"switch\" -- \"hca0\" [color=\"#");
	assert_drawn(" label=\"4x EDR\\n");
	assert_drawn(":#c51b1b\" penwidth=");
	assert_drawn("headlabel=\"1: 5 errors\" labelfontcolor=\"#c51b1b\" "
		     "tooltip=\"switch port 2 - hca1 port 1: Active, 4x EDR, ");
	assert_drawn(", errors: 5\"]\n");
	assert_canonical(at);
	rig_close(rig);
	assert_true(server_stop(at));
	unsetenv("OHCAD_LINK");
}

/* A ring: there are no levels. */
static void test_mesh(void **state)
{
	static const char text[] = "Switch 4 \"X\"\n[1] \"A\"\n[2] \"Y\"[2]\n"
				   "Switch 4 \"Y\"\n[1] \"B\"\n[2] \"X\"[2]\n"
				   "Ca 1 \"A\"\n[1] \"X\"[1]\nCa 1 \"B\"\n[1] \"Y\"[1]\n";
	static const char *const hcas[] = {"mac=02:00:00:00:00:09,link=ib", NULL};
	struct server *at = server_start_topology(text, hcas);

	(void)state;
	draw(at);
	assert_drawn("layout=neato\n");
	assert_not_drawn("rank=same");
	assert_canonical(at);
	assert_true(server_stop(at));
}

/* A large subnet: HCAs without adapters are in the label of their switch, but those with troubles. */
static void test_large(void **state)
{
	static const char *const hcas[] = {"mac=02:00:00:00:00:09,link=ib,node=H0", NULL};
	char text[MANY * 48], *to = text;
	struct server *at;
	unsigned int i;

	(void)state;
	to += sprintf(to, "Switch %u \"S\"\n", MANY);
	for (i = 0; i < MANY; i++)
		to += sprintf(to, "[%u] \"H%u\"\n", i + 1, i);
	for (i = 0; i < MANY; i++)
		to += sprintf(to, "Ca 1 \"H%u\"\n[1] \"S\"[%u]\n", i, i + 1);
	assert_true(to < text + sizeof(text));
	at = server_start_topology(text, hcas);
	ctl_do(at, "node", "{\"node\":\"H7\",\"state\":\"down\"}");
	draw(at);
	assert_drawn("[label=\"S\\n158 idle\\nInitialize\"");
	assert_drawn("\t\"S\" -- \"H0\" [color=\"#f08c00\" tooltip=");
	assert_drawn("\t\"S\" -- \"H7\" [color=\"#c51b1b\" style=dashed");
	assert_not_drawn("\"H8\"");
	assert_not_drawn("label=\"H9\"");
	assert_canonical(at);
	assert_true(server_stop(at));
}

/* Names as they are, for the parser, for labels and in a picture */
static void test_names(void **state)
{
	static const char *const hcas[] = {"mac=02:00:00:00:00:09,link=ib,name=a\"b\\",
					   "mac=02:00:00:00:00:0a,link=ib,name=c&amp;<d>\\N",
					   "mac=02:00:00:00:00:0b,link=ib,name=\x01 \xc3\xa4]--[",
					   NULL};
	struct server *at = server_start_topology(NULL, hcas);

	(void)state;
	draw(at);
	assert_drawn("\t\"a\\\"b\\\\\" [label=\"a\\\"b\\\\\" ");
	assert_drawn("[label=\"c&amp;amp;<d>\\\\N\" ");
	assert_drawn("[label=\"  \xc3\xa4]--[\" ");
	assert_drawn("\"switch\" -- \"a\\\"b\\\\\" [");
	assert_canonical(at);
	if (shell(at, "command -v dot")) {
		assert_true(server_stop(at));
		skip();
	}
	if (shell(at, "\"$0\" -s \"$1\" --svg show-topology"))
		fail_msg("%s", out);
	assert_drawn(">a&quot;b\\</text>");
	assert_drawn(">c&amp;amp;&lt;d&gt;\\N</text>");
	assert_true(server_stop(at));
}

/* The far end of an uplink is none of the nodes. */
static void test_uplink(void **state)
{
	char dir[] = "/tmp/ohcad-test.XXXXXX", hca[128], uplink[128];
	struct server *other, at = {};
	const char *argv[] = {getenv("OHCAD"), "--hca",	    hca,	"--uplink",
			      uplink,	       "--control", at.control, NULL};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(hca, sizeof(hca), "socket=%s/hca,mac=02:00:00:00:00:09,link=ib,name=uplink", dir);
	snprintf(uplink, sizeof(uplink), "stream=unix:%s/uplink,listen,link=ib", dir);
	snprintf(at.control, sizeof(at.control), "%s/control", dir);
	other = server_start_argv(argv, at.control);
	draw(&at);
	assert_drawn("\t\"switch\" -- \"uplink\" [");
	assert_drawn("\t\"switch\\nuplink 2\" [label=\"uplink\" shape=cds");
	assert_drawn("\t\"switch\" -- \"switch\\nuplink 2\" [color=\"#c51b1b\"");
	assert_canonical(&at);
	assert_true(server_stop(other));
	assert_int_equal(rmdir(dir), 0);
}

static void test_errors(void **state)
{
	static const char *const ethernet[] = {"mac=02:00:00:00:00:09", NULL};
	static const char *const ib[] = {"mac=02:00:00:00:00:09,link=ib", NULL};
	struct server *at = server_start_topology(NULL, ethernet);

	(void)state;
	assert_int_equal(shell(at, "\"$0\" -s \"$1\" show topology --dot"), 1);
	assert_string_equal(out, "ohcactl: there is no InfiniBand node\n");
	assert_int_equal(shell(at, "\"$0\" -s \"$1\" show cables --dot"), 2);
	assert_drawn("--dot and --svg are for show topology");
	assert_int_equal(shell(at, "\"$0\" -s \"$1\" show topology more --svg"), 2);
	assert_int_equal(shell(at, "\"$0\" -s \"$1\" show topology --dot -j"), 2);
	assert_drawn("--json, --dot and --svg exclude each other");
	assert_true(server_stop(at));
	at = server_start_topology(tree, ib);
	assert_int_equal(shell(at, "PATH=/nowhere; \"$0\" -s \"$1\" show topology --svg"), 1);
	assert_string_equal(out, "ohcactl: --svg needs the program dot, of the package graphviz; "
				 "--dot does not\n");
	assert_int_equal(shell(at, "dir=$(mktemp -d) && printf '#!/bin/sh\\nexit 3\\n' > $dir/dot "
				   "&& "
				   "chmod +x $dir/dot && { PATH=$dir:$PATH \"$0\" -s \"$1\" show "
				   "topology --svg; "
				   "status=$?; rm -r $dir; exit $status; }"),
			 1);
	assert_string_equal(out, "ohcactl: dot has failed\n");
	assert_true(server_stop(at));
}

static int start(void **state)
{
	(void)state;
	ohcactl = getenv("OHCACTL");
	return ohcactl ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_active),
		cmocka_unit_test(test_mesh),   cmocka_unit_test(test_large),
		cmocka_unit_test(test_names),  cmocka_unit_test(test_uplink),
		cmocka_unit_test(test_errors),
	};

	return RUN_TESTS(tests, start, NULL);
}
