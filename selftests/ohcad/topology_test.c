// SPDX-License-Identifier: GPL-2.0
/* Net files: what is read, and what is refused. */

#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "fabric/topology.h"
#include "harness.h"

static char folder[] = "/tmp/ohcad-topology.XXXXXX";
static char why[TOPOLOGY_MAX_WHY];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct topology *read_text(const char *text)
{
	write_file("net", text);
	*why = '\0';
	return topology_read(path_of("net"), why);
}

static struct topology *good(const char *text)
{
	struct topology *t = read_text(text);

	if (!t)
		fail_msg("%s", why);
	return t;
}

static const struct topology_port *port(const struct topology *t, const char *name,
					unsigned int num)
{
	const struct topology_node *node = topology_find(t, name);

	assert_non_null(node);
	assert_in_range(num, 1, node->num_ports);
	return &node->ports[num - 1];
}

/* Port @num of node @a leads to port @to of @b. */
static void assert_cable(const struct topology *t, const char *a, unsigned int num, const char *b,
			 unsigned int to)
{
	const struct topology_port *p = port(t, a, num);

	assert_int_equal(p->port, to);
	assert_ptr_equal(&t->nodes[p->node], topology_find(t, b));
}

static void test_small(void **state)
{
	struct topology *t = good("# two of each\n"
				  "Switch 8 \"S1\"\n"
				  "[1]\t\"A\"[1]\n"
				  "# a comment between ports\n"
				  "[8] \"S2\" [3]\n"
				  "\n"
				  "Switch\t4 \"S2\"\t# \"spine # 2\"\n"
				  "[3] \"S1\"[8]\n"
				  "[1] \"B\"\n"
				  "Hca 2 \"A\"\n"
				  "[1] \"S1\"[1]\n"
				  "\n"
				  "Ca 1 \"B\" # a text lid 3\n"
				  "[1] \"S2\"[1]");

	(void)state;
	assert_int_equal(t->num, 4);
	assert_int_equal(t->nodes[0].type, NODE_SWITCH);
	assert_int_equal(t->nodes[0].num_ports, 8);
	assert_int_equal(t->nodes[2].type, NODE_CA);
	assert_int_equal(t->nodes[2].num_ports, 2);
	assert_string_equal(t->nodes[0].desc, "S1");
	assert_string_equal(t->nodes[1].desc, "spine # 2");
	assert_string_equal(t->nodes[3].desc, "a text");
	assert_cable(t, "S1", 1, "A", 1);
	assert_cable(t, "A", 1, "S1", 1);
	assert_cable(t, "S1", 8, "S2", 3);
	assert_cable(t, "S2", 1, "B", 1);
	assert_int_equal(port(t, "S1", 2)->port, 0);
	assert_int_equal(port(t, "A", 2)->port, 0);
	assert_memory_equal(&port(t, "A", 1)->speeds, &ib_speeds_default,
			    sizeof(ib_speeds_default));
	assert_null(topology_find(t, "C"));
	topology_free(t);
}

/* As ibsim numbers them */
static void test_guids(void **state)
{
	struct topology *t = good("Hca 2 \"A\"\n"
				  "Hca 1 \"B\"\n"
				  "Switch 2 \"S\"\n"
				  "Switch 2 \"T\"\n"
				  "vendid=0x2c9\ndevid=0x1003\n"
				  "sysimgguid=0x77\ncaguid=0xa000(a001)\n"
				  "Ca 1 \"C\"\n"
				  "Ca 1 \"D\"\n"
				  "caguid+0x50\n"
				  "Ca 1 \"E\"\n"
				  "hcaguids=0xb000\n"
				  "Ca 1 \"F\"\n"
				  "switchguid=0xc0\n"
				  "Switch 2 \"U\"\n"
				  "nodeguid=0xd0\n"
				  "Ca 1 \"G\"\n");

	(void)state;
	assert_int_equal(topology_find(t, "A")->guid, 0x100000);
	assert_int_equal(port(t, "A", 1)->guid, 0x100001);
	assert_int_equal(port(t, "A", 2)->guid, 0x100002);
	assert_int_equal(topology_find(t, "B")->guid, 0x100003);
	assert_int_equal(topology_find(t, "S")->guid, 0x200000);
	assert_int_equal(topology_find(t, "T")->guid, 0x200001);
	assert_int_equal(topology_find(t, "C")->guid, 0xa000);
	assert_int_equal(topology_find(t, "C")->system_guid, 0x77);
	assert_int_equal(topology_find(t, "C")->vendor, 0x2c9);
	assert_int_equal(topology_find(t, "C")->device, 0x1003);
	assert_int_equal(topology_find(t, "D")->guid, 0xa002);
	assert_int_equal(topology_find(t, "D")->system_guid, 0xa002);
	assert_int_equal(topology_find(t, "D")->vendor, 0);
	assert_int_equal(topology_find(t, "E")->guid, 0xa050);
	assert_int_equal(topology_find(t, "F")->guid, 0xb000);
	assert_int_equal(topology_find(t, "U")->guid, 0xc0);
	assert_int_equal(topology_find(t, "G")->guid, 0xd0);
	topology_free(t);
}

static void assert_speeds(const struct topology *t, const char *name, unsigned int num,
			  uint8_t width, uint8_t speed, uint8_t ext)
{
	const struct ib_speeds *s = &port(t, name, num)->speeds;

	assert_int_equal(s->width, width);
	assert_int_equal(s->speed, speed);
	assert_int_equal(s->ext, ext);
}

static void test_speeds(void **state)
{
	struct topology *t = good("Switch 9 \"S\"\n"
				  "[1] \"A\"[1] w=1\n"
				  "[2] \"A\"[2] w=8 s=1 # s=3\n"
				  "[3] \"A\"[3] s=4\n"
				  "[4] \"A\"[4] e=4 s=7\n"
				  "[5] \"A\"[5] s=0\n"
				  "[6] \"A\"[6](b1) # \"x lid 3 1xSDR\" lid 4 12xHDR\n"
				  "[7] \"A\"[7] # lid 4 2xQDR w=1\n"
				  "width=4\nspeed=1\nextspeed=8\n"
				  "Ca 8 \"A\"\n"
				  "[1] \"S\"[1] w=3 s=7\n"
				  "[2] \"S\"[2] w=0x8\n"
				  "[3] \"S\"[3] w=31 s=7\n"
				  "[4] \"S\"[4] w=3 e=15\n"
				  "[5](a5) \"S\"[5] w=2 s=4\n"
				  "[6] \"S\"[6] # lid 1 lmc 0 \"x\" lid 4 8xEDR\n"
				  "[7] \"S\"[7] s=5 w=17\n");

	(void)state;
	assert_speeds(t, "S", 1, 1, 7, 3);
	assert_speeds(t, "S", 2, 8, 1, 0);
	assert_speeds(t, "S", 3, 19, 4, 0);
	assert_speeds(t, "S", 4, 19, 7, 4);
	assert_speeds(t, "S", 5, 19, 4, 0);
	assert_speeds(t, "S", 6, 31, 7, 7);
	assert_speeds(t, "S", 7, 17, 7, 0);
	assert_speeds(t, "S", 8, 19, 7, 3);
	assert_speeds(t, "A", 1, 3, 7, 0);
	assert_speeds(t, "A", 2, 8, 1, 8);
	assert_speeds(t, "A", 4, 3, 1, 15);
	assert_speeds(t, "A", 6, 23, 7, 3);
	assert_speeds(t, "A", 8, 4, 1, 8);
	assert_int_equal(port(t, "A", 5)->guid, 0xa5);
	topology_free(t);
}

/* Two records as ibnetdiscover prints them */
static void test_discovered(void **state)
{
	struct topology *t = good("#\n# Topology file: generated on Wed Nov 25 10:00:00 2026\n#\n"
				  "# Initiated from node 50410001ff4f4801 port 50410001ff4f4802\n\n"
				  "vendid=0x1b36\ndevid=0x4f48\nsysimgguid=0x5041\n"
				  "switchguid=0x5041(5041)\n"
				  "Switch\t8 \"S-0000000000005041\"\t\t# \"OHCA switch\" enhanced "
				  "port 0 lid 2 lmc 0\n"
				  "[1]\t\"H-0000000000005042\"[1](5043) \t\t# \"node0 ohca_0\" lid "
				  "1 4xEDR\n\n"
				  "vendid=0x1b36\ndevid=0x4f48\nsysimgguid=0x5042\n"
				  "caguid=0x5042\n"
				  "Ca\t1 \"H-0000000000005042\"\t\t# \"node0 ohca_0\"\n"
				  "[1](5043) \t\"S-0000000000005041\"[1]\t\t# lid 1 lmc 0 \"OHCA "
				  "switch\" lid 2 4xEDR\n");

	(void)state;
	assert_int_equal(t->num, 2);
	assert_string_equal(t->nodes[0].desc, "OHCA switch");
	assert_string_equal(t->nodes[1].desc, "node0 ohca_0");
	assert_int_equal(t->nodes[1].guid, 0x5042);
	assert_int_equal(t->nodes[1].ports[0].guid, 0x5043);
	assert_speeds(t, "H-0000000000005042", 1, 19, 7, 3);
	topology_free(t);
}

static void test_include(void **state)
{
	struct topology *t;

	(void)state;
	assert_int_equal(mkdir(path_of("sub"), 0700), 0);
	write_file("sub/leaf", "Switch 2 \"S\"\n[1] \"A\"\ninclude \"hcas\"\n");
	write_file("sub/hcas", "Ca 1 \"A\"\n[1] \"S\"[1]\n");
	t = good("include \"sub/leaf\"\nCa 1 \"B\"\n");
	assert_int_equal(t->num, 3);
	assert_cable(t, "A", 1, "S", 1);
	topology_free(t);
	/* A node does not go on in the next file. */
	assert_null(read_text("Switch 2 \"S\"\ninclude \"sub/ports\"\n"));
	assert_non_null(strstr(why, "/sub/ports' can't be read"));
	write_file("sub/ports", "[1] \"S\"[2]\n");
	assert_null(read_text("Switch 2 \"S\"\ninclude \"sub/ports\"\n"));
	assert_non_null(strstr(why, "/sub/ports:1: expected a node before its ports"));
	assert_null(read_text("include \"net\"\n"));
	assert_non_null(strstr(why, "/net:1: expected files that include each other no deeper"));
	unlink(path_of("sub/leaf"));
	unlink(path_of("sub/hcas"));
	unlink(path_of("sub/ports"));
	assert_int_equal(rmdir(path_of("sub")), 0);
}

#define PAIR "Switch 2 \"S\"\n[1] \"A\"[1]\nCa 1 \"A\"\n[1] \"S\"[1]\n"

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"", "net: expected a node"},
		{"# nothing\n", "net: expected a node"},
		{"Switch \"S\"\n", "net:1: expected a number of ports, not '\"S\"'"},
		{"\nSwitch 0 \"S\"\n", "net:2: expected a number of ports from 1 on"},
		{"Switch 255 \"S\"\n", "net:1: expected a number of ports of at most 0xfe"},
		{"Ca 1 S\n", "net:1: expected the name of a node in quotes, not 'S'"},
		{"Ca 1 \"S\n", "net:1: expected the name of a node in quotes"},
		{"Ca 1 \"\"\n", "net:1: expected the name of a node in quotes"},
		{"Ca 1 \"S\" 4\n", "net:1: expected a comment after the name of a node, not '4'"},
		{"[1] \"S\"\n", "net:1: expected a node before its ports"},
		{PAIR "\n[1] \"S\"[1]\n", "net:6: expected a node before its ports"},
		{"Ca 1 \"A\"\n[2] \"S\"\n", "net:2: expected the number of a port of at most 0x1"},
		{"Ca 1 \"A\"\n[0] \"S\"\n", "net:2: expected the number of a port from 1 on"},
		{"Ca 1 \"A\"\n[x] \"S\"\n", "net:2: expected the number of a port, not 'x] \"S\"'"},
		{"Ca 1 \"A\"\n[1 \"S\"\n", "net:2: expected ']' after the number of a port"},
		{"Ca 1 \"A\"\n[1](1 \"S\"\n", "net:2: expected ')' after a GUID"},
		{"Ca 1 \"A\"\n[1](z) \"S\"\n", "net:2: expected a GUID, not 'z) \"S\"'"},
		{"Ca 1 \"A\"\n[1] S\n", "net:2: expected the name of a node in quotes, not 'S'"},
		{"Ca 1 \"A\"\n[1] \"S\"[0]\n", "net:2: expected the number of a port from 1 on"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] q=1\n", "net:2: expected w=, s=, e= or a comment, not "
						   "'q=1'"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] w=0\n", "net:2: expected a width"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] w=32\n", "net:2: expected bits of widths of at most "
						    "0x1f"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] w 4\n", "net:2: expected '=' after 'bits of widths', "
						   "not '4'"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] s=8\n", "net:2: expected bits of speeds of at most 0x7"},
		{"Ca 1 \"A\"\n[1] \"S\"[1] e=16\n", "net:2: expected bits of extended speeds of at "
						    "most 0xf"},
		{"Ca 2 \"A\"\n[1] \"S\"[1]\n[1] \"S\"[2]\n", "net:3: expected one cable for port 1 "
							     "of 'A'"},
		{PAIR "Ca 1 \"S\"\n", "net:5: expected one node of name 'S'"},
		{PAIR "nodeguid=0x100000\nCa 1 \"B\"\n", "net:6: expected another GUID for 'B'"},
		{PAIR "Ca 1 \"B\"\n[1](100001) \"S\"[2]\n", "net:5: expected other GUIDs for the "
							    "ports of 'B'"},
		{"Ca 1 \"A\"\n[1] \"S\"[1]\n", "net:2: expected a node 'S'"},
		{"Ca 1 \"A\"\n[1] \"S\"[5]\nSwitch 4 \"S\"\n", "net:2: expected a port of 'S' up "
							       "to 4"},
		{"Ca 1 \"A\"\n[1] \"S\"[2]\nSwitch 4 \"S\"\n", "net:2: expected that port 2 of 'S' "
							       "leads to port 1 of 'A'"},
		{PAIR "Ca 1 \"B\"\n[1] \"S\"[1]\n", "net:6: expected that port 1 of 'S' leads to "
						    "port 1 of 'B'"},
		{"Switch 2 \"S\"\n[1] \"S\"[1]\n", "net:2: expected that port 1 of 'S' leads to "
						   "port 1 of 'S'"},
		{"Ca 1 \"A\"\n[1] \"B\" s=1\nCa 1 \"B\"\n[1] \"A\" s=2\n", "net:2: expected a "
									   "width and a speed of "
									   "both ends"},
		{"swicth 4 \"S\"\n", "net:1: expected Switch, Hca, Ca, [PORT], include or "
				     "NAME=VALUE, not 'swicth 4"},
		{"Rt 4 \"S\"\n", "net:1: expected Switch, Hca, Ca,"},
		{"do Link \"A\" \"B\"\n", "net:1: expected Switch, Hca, Ca,"},
		{"module \"m\"\n", "net:1: expected Switch, Hca, Ca,"},
		{"@[1] \"S\"\n", "net:1: expected Switch, Hca, Ca,"},
		{"caguid 5\n", "net:1: expected '=' or '+', not '5'"},
		{"sysimgguid+5\n", "net:1: expected '=', not '+5'"},
		{"devid=0x10000\n", "net:1: expected a number of at most 0xffff"},
		{"caguid=0x11112222333344445\n", "net:1: expected a GUID of at most"},
		{"include net\n", "net:1: expected the name of a file in quotes"},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topology *t = read_text(bad[i].text);

		if (t || !strstr(why, bad[i].why))
			fail_msg("'%s': '%s', not '%s'", bad[i].text, why, bad[i].why);
		assert_null(strchr(why, '\n'));
	}
	assert_null(topology_read(path_of("absent"), why));
	assert_non_null(strstr(why, "/absent: it can't be read"));
}

static void test_free_hcas(void **state)
{
	struct topology *t = good("Ca 1 \"unplugged\"\n" PAIR "Ca 1 \"B\"\n[1] \"C\"\n"
				  "Ca 1 \"C\"\n[1] \"B\"\n");
	struct topology_node *node = topology_free_hca(t, 2);

	(void)state;
	assert_string_equal(node->name, "A");
	node->bound = true;
	node = topology_free_hca(t, 2);
	assert_string_equal(node->name, "B");
	node->bound = true;
	topology_find(t, "C")->bound = true;
	assert_null(topology_free_hca(t, 2));
	topology_free(t);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path_of("net"));
	return rmdir(folder);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_small),	  cmocka_unit_test(test_guids),
	cmocka_unit_test(test_speeds),	  cmocka_unit_test(test_discovered),
	cmocka_unit_test(test_include),	  cmocka_unit_test(test_refused),
	cmocka_unit_test(test_free_hcas),
};

int main(void)
{
	return RUN_TESTS(tests, setup, teardown);
}
