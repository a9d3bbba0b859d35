// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams to a multicast group.  See Documentation/firstqp.rst.
 *
 * group ADDRESS [SERVER]: ADDRESS is this machine's.  Without SERVER, it receives.
 */

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "peer.h"

#define GROUP "239.77.1.2"
#define GRH 40 /* each datagram is received with that many bytes before it */

static struct rdma_event_channel *channel;
static char buf[GRH + 64];

/* An identifier with a queue pair for datagrams, at the port that has this address */
static struct rdma_cm_id *make_id(const char *address)
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	need(inet_pton(AF_INET, address, &own.sin_addr) == 1, "the address");
	need(!rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), "rdma_create_id");
	need(!rdma_bind_addr(id, (struct sockaddr *)&own), "rdma_bind_addr");
	need(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	return id;
}

/* Join the group; the event has its address. */
static struct rdma_ud_param join(struct rdma_cm_id *id, struct sockaddr_in *group)
{
	struct rdma_cm_event *event;
	struct rdma_ud_param param;
	char gid[INET6_ADDRSTRLEN];

	need(!rdma_join_multicast(id, (struct sockaddr *)group, NULL), "rdma_join_multicast");
	need(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	need(event->event == RDMA_CM_EVENT_MULTICAST_JOIN, "the join");
	param = event->param.ud;
	inet_ntop(AF_INET6, &param.ah_attr.grh.dgid, gid, sizeof(gid));
	printf("group %s, QP 0x%x, LID 0x%x\n", gid, param.qp_num, param.ah_attr.dlid);
	rdma_ack_cm_event(event);
	return param;
}

static void send_datagram(struct rdma_cm_id *id, struct ibv_mr *mr, struct rdma_ud_param *group)
{
	struct ibv_ah *ah = ibv_create_ah(id->pd, &group->ah_attr);
	struct ibv_wc wc;

	need(!!ah, "ibv_create_ah");
	strcpy(buf, "Hello to all");
	need(!rdma_post_ud_send(id, NULL, buf, 64, mr, 0, ah, group->qp_num), "rdma_post_ud_send");
	need(rdma_get_send_comp(id, &wc) == 1 && !wc.status, "the send");
	ibv_destroy_ah(ah);
}

static void take_datagram(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	need(rdma_get_recv_comp(id, &wc) == 1 && !wc.status, "the receive");
	printf("%u bytes from QP %u: %s\n", wc.byte_len - GRH, wc.src_qp, buf + GRH);
}

int main(int argc, char **argv)
{
	struct sockaddr_in group = {.sin_family = AF_INET};
	const char *server = argc > 2 ? argv[2] : NULL;
	struct rdma_ud_param param;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	int peer;

	if (argc < 2) {
		fprintf(stderr, "usage: group ADDRESS [SERVER]\n");
		return 2;
	}
	peer = peer_open(server);
	inet_pton(AF_INET, GROUP, &group.sin_addr);
	channel = rdma_create_event_channel();
	need(!!channel, "rdma_create_event_channel");
	id = make_id(argv[1]);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	need(!!mr, "rdma_reg_msgs");
	need(!rdma_post_recv(id, NULL, buf, sizeof(buf), mr), "rdma_post_recv");
	param = join(id, &group);
	peer_meet(peer); /* both have joined */
	if (server)
		do { /* until it has arrived: one of them may be lost */
			send_datagram(id, mr, &param);
		} while (!peer_waits(peer, 100));
	else
		take_datagram(id);
	peer_meet(peer); /* the datagram has arrived */
	need(!rdma_leave_multicast(id, (struct sockaddr *)&group), "rdma_leave_multicast");
	rdma_dereg_mr(mr);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
