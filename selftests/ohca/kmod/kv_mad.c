// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: a management datagram on a device that does not work any more.  Its
 * sender gets a failure, and not a cancellation, for which the connection manager would not notify
 * its consumer.  It is not repeated for as long as would be allowed.
 */

#include <linux/err.h>
#include <rdma/ib_mad.h>

#include "kv.h"

#define KV_GSI 1
#define KV_MAD_TIMEOUT_MS 100
#define KV_MAD_RETRIES 1000 /* longer than KV_TIMEOUT */

static DECLARE_COMPLETION(kv_mad_over);
static enum ib_wc_status kv_mad_status;

static void kv_mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	kv_mad_status = wc->status;
	ib_free_send_mad(wc->send_buf);
	complete(&kv_mad_over);
}

static void kv_mad_answered(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
}

static int kv_mad_send(struct ib_mad_agent *agent, struct ib_ah *ah)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	int err;

	buf = ib_create_send_mad(agent, KV_GSI, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64((u64)agent->hi_tid << 32);
	buf->ah = ah;
	buf->timeout_ms = KV_MAD_TIMEOUT_MS;
	buf->retries = KV_MAD_RETRIES;
	err = ib_post_send_mad(buf, NULL);
	if (err)
		ib_free_send_mad(buf);
	return err;
}

bool kv_mad_fails(struct kv_rig *rig)
{
	struct ib_mad_agent *agent;
	bool ok;

	agent = ib_register_mad_agent(rig->dev, KV_PORT, IB_QPT_GSI, NULL, 0, kv_mad_sent,
				      kv_mad_answered, NULL, 0);
	if (!KV_EXPECT(!IS_ERR(agent)))
		return false;

	/* Newer kernels wait for the answer anyway, but try only once more. */
	ok = KV_EXPECT(!kv_mad_send(agent, rig->ah)) &&
	     KV_EXPECT(wait_for_completion_timeout(&kv_mad_over, KV_TIMEOUT)) &&
	     KV_EXPECT(kv_mad_status == IB_WC_FATAL_ERR || kv_mad_status == IB_WC_RESP_TIMEOUT_ERR);
	ib_unregister_mad_agent(agent);
	return ok;
}
