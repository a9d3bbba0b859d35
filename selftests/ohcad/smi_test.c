// SPDX-License-Identifier: GPL-2.0
/* Subnet management packets: routes, M_Keys, traps, link states; and OHCA_CMD_MAD. */

#include <endian.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "fabric/ib_error.h"
#include "ib_bed.h"
#include "pcapng_file.h"
#include "refuse.h"

#define CAPTURED_SMP_LEN (PF_ERF_LEN + 8 + 12 + 8 + MAD_LEN + 4 + 2) /* LRH, BTH, DETH, CRCs */
#define MKEY 0x1122334455667788ULL

static uint8_t data[SMP_DATA_LEN];

/* Advance the device's time. */
static void pass_ms(unsigned int ms)
{
	struct timespec step = {.tv_nsec = 1000000};

	while (ms--) {
		nanosleep(&step, NULL);
		inproc_step();
	}
}

/* Captures */

/*
 * The packets of a subnet manager and their responses, at the ports of all HCAs.  With CAPTURE_FILE
 * in the environment the capture is written to that file, for tests with other programs.
 */
static void test_captured(void **state)
{
	struct captures *captures = &inproc_fabric(0)->captures;
	const char *keep = getenv("CAPTURE_FILE");
	char path[] = "/tmp/ohcad-smi.XXXXXX";
	struct capture_options opts = {.path = (char *)(keep ? keep : path)};
	unsigned int i, dirs[3] = {0};
	int fd = mkstemp(path);
	struct pf *pf;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	ib_bed_up();
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_hca1, data), MAD_OK);
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(opts.path);
	assert_int_equal(pf->num_ifs, BED_HCAS);
	for (i = 0; i < pf->num; i++) {
		assert_int_equal(pf->packets[i].len, CAPTURED_SMP_LEN);
		dirs[pf->packets[i].dir]++;
	}
	/* Each request has a response. */
	assert_int_equal(dirs[PF_OUT], dirs[PF_IN]);
	assert_true(dirs[PF_OUT] > 10);
	/* The last request and its response, on the links of both HCAs */
	assert_int_equal(pf->packets[pf->num - 1].iface, pf_find(pf, "hca0"));
	assert_int_equal(pf->packets[pf->num - 2].iface, pf_find(pf, "hca1"));
	assert_int_equal(pf->packets[pf->num - 3].iface, pf_find(pf, "hca1"));
	assert_int_equal(pf->packets[pf->num - 4].iface, pf_find(pf, "hca0"));
	pf_free(pf);
	captures_fini(captures);
	unlink(path);
}

/* Routes */

static struct port *route(unsigned int hca, uint16_t dlid)
{
	const struct ib_flow flow = {dlid, PKEY_DEFAULT, 0};

	return ib_route_port(inproc_hca(hca)->ports[0], &flow);
}

static unsigned int mcast_ports(uint16_t mlid, struct port *to[FABRIC_MAX_PORTS])
{
	const struct ib_packets packet = {.head.dlid = mlid, .head.key = PKEY_DEFAULT, .num = 1};

	return ib_mcast_ports(inproc_hca(0)->ports[0], &packet, to);
}

static void test_bring_up(void **state)
{
	struct port *to[FABRIC_MAX_PORTS];
	uint16_t masks[32] = {htobe16(0x000e)};

	(void)state;
	ib_bed_up();
	ib_expect_event(1, OHCA_EVENT_LID_CHANGE);
	ib_expect_event(1, OHCA_EVENT_SM_CHANGE);
	ib_expect_event(1, OHCA_EVENT_PORT_ACTIVE);
	ib_expect_no_event(1);
	assert_ptr_equal(route(0, BED_LID(1)), inproc_hca(1)->ports[0]);
	assert_ptr_equal(route(1, BED_LID(2)), inproc_hca(2)->ports[0]);
	assert_ptr_equal(route(1, BED_LID(1)), inproc_hca(1)->ports[0]);
	assert_null(route(1, BED_SWITCH_LID));
	assert_null(route(1, 0x3f));
	assert_null(route(1, 0xbfff));
	assert_int_equal(mcast_ports(LID_MCAST, to), 0);
	assert_int_equal(ib_set(SM_MCAST_FDB, 0, to_switch, masks), MAD_OK);
	assert_int_equal(mcast_ports(LID_MCAST, to), 2);
	assert_ptr_equal(to[0], inproc_hca(1)->ports[0]);
	assert_int_equal(mcast_ports(LID_MCAST + 1, to), 0);
	/* A port that is not active gets nothing. */
	drv_reset(ib.drv[1]);
	assert_int_equal(mcast_ports(LID_MCAST, to), 1);
	assert_null(route(0, BED_LID(1)));
	assert_null(route(1, BED_LID(2)));
}

static void test_lid_route(void **state)
{
	struct mad_packet p;
	const struct smp *smp;
	struct port_info *info;

	(void)state;
	ib_bed_up();
	p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_LID(2));
	smp = ib_ask(0, &p);
	assert_non_null(smp);
	assert_int_equal(((const struct node_info *)smp->data)->node_type, NODE_CA);
	p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_SWITCH_LID);
	smp = ib_ask(0, &p);
	assert_non_null(smp);
	assert_int_equal(((const struct node_info *)smp->data)->node_type, NODE_SWITCH);
	p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_LID(0));
	assert_non_null(ib_ask(0, &p));
	p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, 0x3f);
	assert_null(ib_ask(0, &p));
	/* To a LID that is routed to a port with another LID */
	p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_LID(2) + 1);
	assert_null(ib_ask(0, &p));
	assert_int_equal(ib.num_got, 0);
	/* Any LID of a port can be asked, and answers, even if it changes. */
	ib_port_set_lid(ib_port_of(2), BED_LID(2), 2);
	assert_non_null(ib_ask(0, &p));
	p = ib_lid_request(MAD_GET, SM_PORT_INFO, 0, BED_LID(2) + 1);
	smp = ib_ask(0, &p);
	assert_non_null(smp);
	p = ib_lid_request(MAD_SET, SM_PORT_INFO, 0, BED_LID(2) + 1);
	info = (struct port_info *)p.smp.data;
	memcpy(info, smp->data, sizeof(*info));
	info->lid = htobe16(0x40);
	info->speed_supported_state &= 0xf0;
	info->phys_state_down_default &= 0x0f;
	assert_non_null(ib_ask(0, &p));
	assert_int_equal(ib_port_of(2)->lid, 0x40);
}

/* By hops to the switch, and by LID from there */
static void test_mixed_route(void **state)
{
	struct mad_packet p;
	const struct smp *smp;

	(void)state;
	ib_bed_up();
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_switch);
	p.smp.dr_dlid = htobe16(BED_LID(2));
	smp = ib_ask(0, &p);
	assert_non_null(smp);
	assert_int_equal(be64toh(((const struct node_info *)smp->data)->node_guid),
			 0x000000fffe000003);
	/* By LID to the switch, and by hops from there */
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, (const uint8_t[]){3, 0});
	p.hdr.hop_ptr = 0;
	p.slid = BED_LID(0);
	p.dlid = BED_SWITCH_LID;
	p.smp.dr_slid = htobe16(BED_LID(0));
	ib.num_got = 0;
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	assert_int_equal(ib.num_got, 1);
	assert_int_equal(be64toh(((const struct node_info *)ib.got[0].smp.data)->node_guid),
			 0x000000fffe000003);
}

static void test_bad_routes(void **state)
{
	struct mad_packet p;
	unsigned int i, j;

	(void)state;
	/* Invalid hop counts */
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_switch);
	p.hdr.hop_cnt = 64;
	assert_null(ib_ask(0, &p));
	p.hdr.hop_cnt = 255;
	p.hdr.hop_ptr = 254;
	assert_null(ib_ask(0, &p));
	/* An HCA does not forward packets. */
	assert_int_equal(ib_get(SM_NODE_INFO, 0, (const uint8_t[]){1, 2, 1, 0}, data), -1);
	/* Even a route back and forth between two nodes ends with its last hop. */
	for (i = 0; i < 256; i++) {
		for (j = 0; j < 256; j++) {
			p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);
			p.hdr.hop_ptr = i;
			p.hdr.hop_cnt = j;
			memset(p.smp.initial_path, 2, sizeof(p.smp.initial_path));
			memset(p.smp.return_path, 1, sizeof(p.smp.return_path));
			ib.num_got = 0;
			ib_send_smp(inproc_hca(0)->ports[0], &p);
			p.hdr.status = htobe16(MAD_DIRECTION);
			ib_send_smp(inproc_hca(0)->ports[0], &p);
		}
	}
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);
	p.hdr.base_version = 2;
	assert_null(ib_ask(0, &p));
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);
	p.hdr.mgmt_class = 0x03;
	assert_null(ib_ask(0, &p));
}

static int status_of(struct mad_packet *p)
{
	const struct smp *smp = ib_ask(0, p);

	return smp ? be16toh(smp->hdr.status) & ~MAD_DIRECTION : -1;
}

static void test_bad_requests(void **state)
{
	struct mad_packet p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);

	(void)state;
	p.hdr.class_version = 2;
	assert_int_equal(status_of(&p), MAD_BAD_VERSION);
	p = ib_request(0x15, SM_NODE_INFO, 0, to_hca1);
	assert_int_equal(status_of(&p), MAD_BAD_METHOD);
	p = ib_request(MAD_GET, 0x7777, 0, to_hca1);
	assert_int_equal(status_of(&p), MAD_BAD_ATTR);
	p = ib_request(MAD_SET, SM_NODE_INFO, 0, to_switch);
	assert_int_equal(status_of(&p), MAD_BAD_ATTR);
	/* The switch has no subnet manager. */
	p = ib_request(MAD_GET, SM_SM_INFO, 0, to_switch);
	assert_int_equal(status_of(&p), MAD_BAD_ATTR);
}

/* A packet that is not for the agent is passed to the host unchanged. */
static void test_to_host(void **state)
{
	static const uint8_t methods[] = {MAD_TRAP, MAD_GET_RESP, MAD_TRAP_REPRESS};
	struct mad_packet p = ib_request(MAD_GET, SM_SM_INFO, 0, to_hca2), raw;
	unsigned int i;

	(void)state;
	ib_bed_up();
	ib.num_got = 0;
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	assert_int_equal(ib.num_got, 1);
	assert_int_equal(ib.at[0], 2);
	raw = ib.got[0];
	assert_int_equal(raw.hdr.hop_ptr, 2);
	assert_int_equal(raw.hdr.method, MAD_GET);
	assert_int_equal(raw.smp.return_path[1], 1);
	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		p = ib_lid_request(methods[i], SM_NOTICE, 0, BED_LID(1));
		ib.num_got = 0;
		ib_send_smp(inproc_hca(0)->ports[0], &p);
		assert_int_equal(ib.num_got, 1);
		assert_int_equal(ib.at[0], 1);
		assert_memory_equal(ib.got[0].mad, p.mad, sizeof(p.mad));
	}
}

/* Links */

static void set_phys(const uint8_t *route, uint32_t num, uint8_t phys, int status)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, num, route, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = phys << 4;
	assert_int_equal(ib_set(SM_PORT_INFO, num, route, &info), status);
}

static void test_link_states(void **state)
{
	(void)state;
	ib_bed_up();
	ib_expect_event(1, OHCA_EVENT_LID_CHANGE);
	ib_expect_event(1, OHCA_EVENT_SM_CHANGE);
	ib_expect_event(1, OHCA_EVENT_PORT_ACTIVE);
	set_phys(to_switch, 2, PORT_PHYS_DISABLED, MAD_OK);
	assert_int_equal(ib_switch_of()->ports[2].phys, PORT_PHYS_DISABLED);
	assert_int_equal(ib_switch_of()->ports[2].state, IB_PORT_DOWN);
	assert_int_equal(ib_port_of(1)->state, IB_PORT_DOWN);
	assert_int_equal(ib_port_of(1)->phys, PORT_PHYS_POLLING);
	ib_expect_event(1, OHCA_EVENT_PORT_ERR);
	/* The HCA still has its LID. */
	assert_int_equal(ib_port_of(1)->lid, BED_LID(1));
	port_plug(inproc_hca(1)->ports[0], false);
	set_phys(to_switch, 2, PORT_PHYS_POLLING, MAD_OK);
	assert_int_equal(ib_switch_of()->ports[2].state, IB_PORT_DOWN);
	port_plug(inproc_hca(1)->ports[0], true);
	assert_int_equal(ib_switch_of()->ports[2].state, IB_PORT_INIT);
	assert_int_equal(ib_port_of(1)->state, IB_PORT_INIT);
	ib_expect_no_event(1);
	/* The response is lost with the link. */
	set_phys(to_hca1, 0, PORT_PHYS_SLEEP, -1);
	assert_int_equal(ib_port_of(1)->phys, PORT_PHYS_SLEEP);
	assert_int_equal(ib_port_of(1)->counters.link_downed, 2);
	drv_reset(ib.drv[1]);
	assert_int_equal(ib_port_of(1)->state, IB_PORT_INIT);
}

static void test_speeds(void **state)
{
	struct port_info info;

	(void)state;
	assert_int_equal(ib_get(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	info.width_enabled = PORT_WIDTH_1X;
	info.speed_active_enabled = PORT_SPEED_SDR | PORT_SPEED_DDR;
	info.speed_ext_enabled = 30;
	info.speed_supported_state = IB_PORT_DOWN;
	info.phys_state_down_default = PORT_PHYS_POLLING;
	assert_int_equal(ib_set(SM_PORT_INFO, 0x80000002, to_switch, &info), MAD_OK);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_INIT);
	assert_int_equal(info.width_active, PORT_WIDTH_1X);
	assert_int_equal(info.speed_active_enabled >> 4, PORT_SPEED_DDR);
	assert_int_equal(info.speed_ext_active_supported >> 4, 0);
	assert_int_equal(ib_port_of(1)->active.width, PORT_WIDTH_1X);
	assert_int_equal(ib_port_of(1)->active.speed, PORT_SPEED_DDR);
	assert_int_equal(ib_port_of(1)->active.ext, 0);
}

/* M_Keys */

static void set_mkey(uint8_t protect, uint16_t lease)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, 0, to_hca1, &info), MAD_OK);
	info.mkey = htobe64(MKEY);
	info.mkey_protect_lmc = protect << 6;
	info.mkey_lease = htobe16(lease);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default &= 0x0f;
	assert_int_equal(ib_set(SM_PORT_INFO, 0, to_hca1, &info), MAD_OK);
	assert_int_equal(be64toh(info.mkey), MKEY);
}

/* Result of a request with this key: 0 and the M_Key that is returned, or -1 */
static int try_mkey(uint8_t method, uint64_t mkey, uint64_t *seen)
{
	struct mad_packet p = ib_request(method, SM_PORT_INFO, 0, to_hca1);
	const struct smp *smp;

	if (method == MAD_SET) {
		p.hdr.attr_id = htobe16(SM_PKEY_TABLE);
		p.smp.data[0] = 0xff;
		p.smp.data[1] = 0xff;
	}
	p.smp.mkey = htobe64(mkey);
	smp = ib_ask(0, &p);
	if (!smp)
		return -1;
	*seen = be64toh(((const struct port_info *)smp->data)->mkey);
	return 0;
}

static void test_mkey(void **state)
{
	struct ib_port *hca1 = ib_port_of(1);
	uint64_t seen;

	(void)state;
	ib_bed_up();
	set_mkey(0, 0);
	assert_int_equal(try_mkey(MAD_GET, 0, &seen), 0);
	assert_int_equal(seen, MKEY);
	assert_int_equal(try_mkey(MAD_SET, 0, &seen), -1);
	assert_int_equal(hca1->mkey_viols, 1);
	/* Trap 256 has come to the subnet manager. */
	assert_int_equal(ib.num_got, 1);
	assert_int_equal(ib.got[0].hdr.method, MAD_TRAP);
	assert_int_equal(((struct notice *)ib.got[0].smp.data)->trap, htobe16(TRAP_BAD_MKEY));
	assert_int_equal(((struct notice *)ib.got[0].smp.data)->mkey.dr_hops,
			 TRAP_256_DIRECTED | 2);
	assert_int_equal(try_mkey(MAD_SET, MKEY, &seen), 0);
	hca1->mkey_protect = 1;
	assert_int_equal(try_mkey(MAD_GET, MKEY, &seen), 0);
	assert_int_equal(seen, MKEY);
	assert_int_equal(try_mkey(MAD_GET, 1, &seen), 0);
	assert_int_equal(seen, 0);
	assert_int_equal(hca1->mkey_viols, 1);
	hca1->mkey_protect = 2;
	assert_int_equal(try_mkey(MAD_GET, 1, &seen), -1);
	assert_int_equal(hca1->mkey_viols, 2);
	hca1->mkey_viols = 0xffff;
	assert_int_equal(try_mkey(MAD_TRAP_REPRESS, 1, &seen), -1);
	assert_int_equal(hca1->mkey_viols, 0xffff);
	assert_int_equal(try_mkey(MAD_GET, MKEY, &seen), 0);
	/* The switch has its own M_Key. */
	assert_int_equal(ib_get(SM_PORT_INFO, 0, to_switch, data), MAD_OK);
}

static void test_mkey_lease(void **state)
{
	struct ib_port *hca1 = ib_port_of(1);
	uint64_t seen;

	(void)state;
	ib_bed_up();
	set_mkey(2, 1);
	assert_int_equal(try_mkey(MAD_GET, 1, &seen), -1);
	assert_true(hca1->mkey_timer.pos);
	/* A request with the right M_Key stops the lease timer. */
	assert_int_equal(try_mkey(MAD_GET, MKEY, &seen), 0);
	assert_false(hca1->mkey_timer.pos);
	assert_int_equal(try_mkey(MAD_GET, 1, &seen), -1);
	pass_ms(1100);
	assert_int_equal(hca1->mkey_protect, 0);
	assert_int_equal(try_mkey(MAD_GET, 1, &seen), 0);
	assert_int_equal(seen, MKEY);
	assert_int_equal(try_mkey(MAD_SET, 1, &seen), -1);
}

/* Traps */

static const struct notice *trap_of(unsigned int i)
{
	assert_true(i < ib.num_got);
	assert_int_equal(ib.at[i], 0);
	assert_int_equal(ib.got[i].hdr.method, MAD_TRAP);
	assert_int_equal(ib.got[i].hdr.attr_id, htobe16(SM_NOTICE));
	return (const struct notice *)ib.got[i].smp.data;
}

static void repress(const struct mad_packet *trap)
{
	struct mad_packet p = *trap;

	p.hdr.method = MAD_TRAP_REPRESS;
	p.dlid = trap->slid;
	p.slid = trap->dlid;
	ib.num_got = 0;
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	/* The host does not receive it. */
	assert_int_equal(ib.num_got, 0);
}

static void modify_caps(uint32_t set, uint32_t clear)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_CAPS),
		.port = 1,
		.set_caps = htole32(set),
		.clr_caps = htole32(clear),
	};

	assert_int_equal(drv_cmd(ib.drv[2], OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
}

static void test_trap_144(void **state)
{
	struct ohca_set_node_desc_in desc = {"something else"};
	const struct notice *notice;
	uint64_t begin;

	(void)state;
	ib_bed_up();
	ib.num_got = 0;
	modify_caps(PORT_CAP_SM, 0);
	assert_int_equal(ib.num_got, 1);
	notice = trap_of(0);
	assert_int_equal(notice->generic_type, NOTICE_GENERIC | NOTICE_INFO);
	assert_int_equal(notice->producer[2], NODE_CA);
	assert_int_equal(notice->trap, htobe16(TRAP_LOCAL_CHANGES));
	assert_int_equal(notice->issuer_lid, htobe16(BED_LID(2)));
	assert_int_equal(notice->local.lid, htobe16(BED_LID(2)));
	assert_true(be32toh(notice->local.cap_mask) & PORT_CAP_SM);
	assert_int_equal(notice->local.local_changes, 0);
	/* It is repeated until it is repressed, but not too often. */
	begin = loop_clock();
	pass_ms(100);
	assert_true(ib.num_got >= 3);
	assert_true(ib.num_got <= 2 + (loop_clock() - begin) / 10000000);
	repress(&ib.got[0]);
	pass_ms(50);
	assert_int_equal(ib.num_got, 0);
	/* No change, no trap */
	modify_caps(PORT_CAP_SM, 0);
	assert_int_equal(ib.num_got, 0);
	drv_cmd(ib.drv[2], OHCA_CMD_SET_NODE_DESC, &desc, sizeof(desc), NULL, 0);
	notice = trap_of(0);
	assert_int_equal(notice->local.local_changes, TRAP_144_LOCAL);
	assert_int_equal(notice->local.change_flags, htobe16(TRAP_144_NODE_DESC));
	/* A change while a trap is outstanding is reported after the trap is repressed. */
	modify_caps(0, PORT_CAP_SM);
	repress(&ib.got[0]);
	pass_ms(30);
	assert_true(ib.num_got >= 1);
	assert_false(be32toh(trap_of(0)->local.cap_mask) & PORT_CAP_SM);
	repress(&ib.got[0]);
	pass_ms(30);
	assert_int_equal(ib.num_got, 0);
}

/* Two changes before the trap can be sent are both in it. */
static void test_trap_144_later(void **state)
{
	const struct ib_violation v = {.key = 0x8001, .slid = BED_LID(0), .dlid = BED_LID(2)};
	struct ohca_set_node_desc_in desc = {"something else"};
	const struct notice *notice;

	(void)state;
	ib_bed_up();
	ib_port_of(2)->subnet_timeout = 15; /* 134 ms */
	ib.num_got = 0;
	ib_port_bad_pkey(ib_port_of(2), &v);
	drv_cmd(ib.drv[2], OHCA_CMD_SET_NODE_DESC, &desc, sizeof(desc), NULL, 0);
	modify_caps(PORT_CAP_SM, 0);
	assert_int_equal(ib.num_got, 1);
	/* They alternate. */
	while (ib.num_got < 3)
		pass_ms(1);
	notice = trap_of(2);
	assert_int_equal(notice->trap, htobe16(TRAP_LOCAL_CHANGES));
	assert_true(be32toh(notice->local.cap_mask) & PORT_CAP_SM);
	assert_int_equal(notice->local.local_changes, TRAP_144_LOCAL);
	assert_int_equal(notice->local.change_flags, htobe16(TRAP_144_NODE_DESC));
}

static void test_trap_128(void **state)
{
	(void)state;
	ib_bed_up();
	assert_false(ib_switch_of()->state_change);
	ib.num_got = 0;
	drv_reset(ib.drv[1]);
	assert_true(ib_switch_of()->state_change);
	assert_int_equal(ib.num_got, 1);
	assert_int_equal(trap_of(0)->trap, htobe16(TRAP_LINK_STATE));
	assert_int_equal(trap_of(0)->producer[2], NODE_SWITCH);
	assert_int_equal(trap_of(0)->lid_128, htobe16(BED_SWITCH_LID));
	repress(&ib.got[0]);
	pass_ms(30);
	/* The trap for the link that came up */
	assert_true(ib.num_got >= 1);
	assert_int_equal(trap_of(0)->trap, htobe16(TRAP_LINK_STATE));
}

/* A trap that is repeated has the LID that the node has now. */
static void test_trap_lid_changes(void **state)
{
	const struct ib_violation v = {.key = 0x8001, .slid = BED_LID(0), .dlid = BED_LID(1)};
	unsigned int i;

	(void)state;
	ib_bed_up();
	ib.num_got = 0;
	drv_reset(ib.drv[1]);
	assert_int_equal(trap_of(0)->lid_128, htobe16(BED_SWITCH_LID));
	ib_switch_bad_pkey(&ib_switch_of()->ports[1], &v);
	ib_port_error(&ib_switch_of()->ports[1], IB_ERROR_FLOW_CONTROL, 1);
	ib_port_set_lid(&ib_switch_of()->ports[0], 0x30, 0);
	ib.num_got = 0;
	pass_ms(60);
	assert_true(ib.num_got >= 3);
	for (i = 0; i < 3; i++) {
		const struct notice *notice = trap_of(i);

		assert_int_equal(ib.got[i].slid, 0x30);
		assert_int_equal(notice->issuer_lid, htobe16(0x30));
		if (notice->trap == htobe16(TRAP_LINK_STATE))
			assert_int_equal(notice->lid_128, htobe16(0x30));
		else if (notice->trap == htobe16(TRAP_FLOW_CONTROL))
			assert_int_equal(notice->local.lid, htobe16(0x30));
		else
			assert_int_equal(notice->switch_pkey.sw_lid, htobe16(0x30));
	}
	/* It is the same event. */
	ib_switch_bad_pkey(&ib_switch_of()->ports[1], &v);
	ib.num_got = 0;
	pass_ms(60);
	assert_int_not_equal(trap_of(0)->trap, trap_of(1)->trap);
	assert_int_equal(trap_of(0)->trap, trap_of(3)->trap);
}

static void test_trap_keys(void **state)
{
	const struct ib_violation v = {
		.key = 0x8001,
		.slid = BED_LID(0),
		.dlid = BED_LID(2),
		.sl = 3,
		.src_qpn = 0x12,
		.dest_qpn = 0x34,
	};
	const struct notice *notice;
	unsigned int i;

	(void)state;
	ib_bed_up();
	ib.num_got = 0;
	for (i = 0; i < 3; i++)
		ib_port_bad_pkey(ib_port_of(2), &v);
	assert_int_equal(ib_port_of(2)->pkey_viols, 3);
	assert_int_equal(ib.num_got, 1);
	notice = trap_of(0);
	assert_int_equal(notice->trap, htobe16(TRAP_BAD_PKEY));
	assert_int_equal(notice->key.lid1, htobe16(BED_LID(0)));
	assert_int_equal(notice->key.lid2, htobe16(BED_LID(2)));
	assert_int_equal(be32toh(notice->key.key), 0x8001);
	assert_int_equal(be32toh(notice->key.sl_qp1), 0x30000012);
	assert_int_equal(be32toh(notice->key.qp2), 0x34);
	ib_port_bad_qkey(ib_port_of(2), &v);
	pass_ms(50);
	assert_int_equal(ib_port_of(2)->qkey_viols, 1);
	/* Traps alternate. */
	assert_int_equal(trap_of(1)->trap, htobe16(TRAP_BAD_PKEY));
	assert_int_equal(trap_of(2)->trap, htobe16(TRAP_BAD_QKEY));
	/* Some traps are queued; further ones do no harm. */
	for (i = 0; i < 100; i++) {
		struct ib_violation other = v;

		other.src_qpn = 100 + i;
		ib_port_bad_pkey(ib_port_of(2), &other);
	}
	drv_reset(ib.drv[2]);
	assert_null(ib_port_of(2)->traps);
}

/* Whoever sends packets with wrong keys does not keep other traps from the subnet manager. */
static void test_trap_flood(void **state)
{
	struct ib_violation v = {.key = 0x8001, .slid = BED_LID(0), .dlid = BED_LID(2)};
	struct ohca_set_node_desc_in desc = {"something else"};
	unsigned int i = 0;

	(void)state;
	ib_bed_up();
	ib.num_got = 0;
	for (v.src_qpn = 100; v.src_qpn < 200; v.src_qpn++)
		ib_port_bad_pkey(ib_port_of(2), &v);
	drv_cmd(ib.drv[2], OHCA_CMD_SET_NODE_DESC, &desc, sizeof(desc), NULL, 0);
	while (i < BED_MAX_GOT) {
		while (i >= ib.num_got)
			pass_ms(1);
		if (trap_of(i++)->trap == htobe16(TRAP_LOCAL_CHANGES))
			return;
	}
	fail();
}

/* Commands */

static struct ohca_mad_out mad(const struct mad_packet *p, uint8_t flags)
{
	struct ohca_mad_in in = {.port = 1, .flags = flags};
	struct ohca_mad_out out;

	memcpy(in.mad, p->mad, sizeof(in.mad));
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	return out;
}

static void test_cmd_mad(void **state)
{
	struct mad_packet p = ib_lid_request(MAD_GET, SM_NODE_DESC, 0, 0);
	struct ohca_mad_in in = {.port = 1};
	struct ohca_mad_out out = mad(&p, 0);

	(void)state;
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	assert_int_equal(((struct smp *)out.mad)->hdr.method, MAD_GET_RESP);
	assert_int_equal(((struct smp *)out.mad)->hdr.status, 0);
	assert_string_equal((char *)((struct smp *)out.mad)->data, "OHCA hca1");
	p.hdr.mgmt_class = MAD_CLASS_SM_DR;
	out = mad(&p, 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	assert_int_equal(be16toh(((struct smp *)out.mad)->hdr.status), MAD_DIRECTION);
	p.hdr.attr_id = htobe16(SM_SM_INFO);
	out = mad(&p, 0);
	assert_int_equal(out.result, OHCA_MAD_PASS);
	assert_int_equal(((struct smp *)out.mad)->hdr.method, 0);
	p.hdr.mgmt_class = 0x07;
	assert_int_equal(mad(&p, 0).result, OHCA_MAD_PASS);
	/* M_Keys */
	ib_port_of(1)->mkey = MKEY;
	ib_port_of(1)->mkey_protect = 2;
	p = ib_lid_request(MAD_GET, SM_NODE_DESC, 0, 0);
	assert_int_equal(mad(&p, 0).result, OHCA_MAD_CONSUMED);
	assert_int_equal(ib_port_of(1)->mkey_viols, 1);
	assert_int_equal(mad(&p, OHCA_MAD_IGNORE_MKEY).result, OHCA_MAD_REPLY);
#define REFUSE_MAD(field, value) \
	REFUSE(ib.drv[1], OHCA_CMD_MAD, struct ohca_mad_in, in, field, value, OHCA_CMD_BAD_PARAM)
	REFUSE_MAD(port, 0);
	REFUSE_MAD(port, 2);
	REFUSE_MAD(flags, 2);
	REFUSE_MAD(src_qpn, htole32(0x1000000));
	REFUSE_MAD(pkey_index, htole16(128));
	REFUSE_MAD(sl, 16);
	REFUSE_MAD(rsvd, 1);
}

static void test_cmd_modify_port(void **state)
{
	struct ohca_modify_port_in in = {.port = 1};
	struct ohca_set_gid_in gid = {.port = 1};
	struct ohca_query_port_in query = {.port = 1};
	struct ohca_query_port_out out;

	(void)state;
#define REFUSE_PORT(field, value)                                                             \
	REFUSE(ib.drv[1], OHCA_CMD_MODIFY_PORT, struct ohca_modify_port_in, in, field, value, \
	       OHCA_CMD_BAD_PARAM)
	REFUSE_PORT(attr_mask, htole32(OHCA_PORT_ATTR_ADMIN));
	REFUSE_PORT(attr_mask, htole32(0x80));
	REFUSE_PORT(admin_up, 1);
	REFUSE_PORT(promisc, 1);
	REFUSE_PORT(large_rx, 1);
	REFUSE_PORT(mac[0], 2);
	REFUSE_PORT(set_caps, htole32(PORT_CAP_SM));
	REFUSE_PORT(init_type, 1);
	in.attr_mask =
		htole32(OHCA_PORT_ATTR_CAPS | OHCA_PORT_ATTR_INIT_TYPE | OHCA_PORT_ATTR_QKEY_VIOLS);
	REFUSE_PORT(set_caps, htole32(PORT_CAP_TRAP));
	REFUSE_PORT(clr_caps, htole32(PORT_CAP_TRAP));
	REFUSE_PORT(init_type, 16);
	in.set_caps = htole32(OHCA_PORT_CAPS_SW);
	REFUSE_PORT(clr_caps, htole32(PORT_CAP_SM));
	in.init_type = 5;
	ib_port_of(1)->qkey_viols = 7;
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
	assert_int_equal(ib_port_of(1)->init_type, 5);
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_QUERY_PORT, &query, sizeof(query), &out,
				 sizeof(out)),
			 0);
	assert_int_equal(le32toh(out.cap_mask) & OHCA_PORT_CAPS_SW, OHCA_PORT_CAPS_SW);
	assert_int_equal(out.qkey_viols, 0);
	refuse(ib.drv[1], OHCA_CMD_SET_GID, &gid, sizeof(gid), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_set_gid_in, port));
}

/* There is no Ethernet feature. */
static void test_features(void **state)
{
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(drv_reg(ib.drv[1], OHCA_REG_CAPS_LO),
			 OHCA_FEAT_SHADOW_DB | OHCA_FEAT_UAR_SHIFT);
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	assert_int_equal(le64toh(out.caps) & HCA_CAPS_ETH, 0);
	assert_true(le64toh(out.caps) & OHCA_CAP_UD);
	drv_reset(ib.drv[1]);
	assert_true(drv_enable(ib.drv[1], DRV_ALL_FEATS) & OHCA_STATUS_FATAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ib_bed_open, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_captured),	    TEST(test_bring_up),
	TEST(test_lid_route),	    TEST(test_mixed_route),
	TEST(test_bad_routes),	    TEST(test_bad_requests),
	TEST(test_to_host),	    TEST(test_link_states),
	TEST(test_speeds),	    TEST(test_mkey),
	TEST(test_mkey_lease),	    TEST(test_trap_144),
	TEST(test_trap_144_later),  TEST(test_trap_128),
	TEST(test_trap_keys),	    TEST(test_trap_lid_changes),
	TEST(test_trap_flood),	    TEST(test_cmd_mad),
	TEST(test_cmd_modify_port), TEST(test_features),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
