// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the devlink instance, versions, ports and health.
 *
 * A port is registered as long as the device is bound, except during a reload, and after one that
 * failed.  Its netdev is shown by devlink itself.
 *
 * The health reporter shows why the device was fenced.  Recovery starts by itself, or when the user
 * requests it.
 */

#include <net/devlink.h>

#include "devlink.h"
#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

/**
 * struct ohca_devlink - private part of the devlink instance
 * @dev: device
 * @fatal: reporter of fatal errors
 */
struct ohca_devlink {
	struct ohca_dev *dev;
	struct devlink_health_reporter *fatal;
};

static int ohca_devlink_info_get(struct devlink *devlink, struct devlink_info_req *req,
				 struct netlink_ext_ack *extack)
{
	struct ohca_dev *dev = ((struct ohca_devlink *)devlink_priv(devlink))->dev;
	u64 fw_ver = dev->attr.fw_ver;
	char buf[32];
	int err;

	snprintf(buf, sizeof(buf), "%016llx", be64_to_cpu(dev->attr.node_guid));
	err = devlink_info_serial_number_put(req, buf);
	if (err)
		return err;

	snprintf(buf, sizeof(buf), "%u", dev->attr.hw_ver);
	err = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_ASIC_REV, buf);
	if (err)
		return err;

	snprintf(buf, sizeof(buf), "%u.%u.%u", upper_32_bits(fw_ver), lower_32_bits(fw_ver) >> 16,
		 lower_32_bits(fw_ver) & 0xffff);
	return devlink_info_version_running_put(req, DEVLINK_INFO_VERSION_GENERIC_FW, buf);
}

/* The device is reset for it, and its consumers see it removed and added. */
static int ohca_port_type_set(struct devlink_port *devlink, enum devlink_port_type type)
{
	struct ohca_port *port = container_of(devlink, struct ohca_port, devlink);

	switch (type) {
	case DEVLINK_PORT_TYPE_AUTO:
		return ohca_reinit_port(port, OHCA_LINK_CONFIGURED);
	case DEVLINK_PORT_TYPE_ETH:
		return ohca_reinit_port(port, OHCA_LINK_ETHERNET);
	case DEVLINK_PORT_TYPE_IB:
		return ohca_reinit_port(port, OHCA_LINK_INFINIBAND);
	default:
		return -EINVAL;
	}
}

#if OHCA_COMPAT_DEVLINK_PORT_OPS
static const struct devlink_port_ops ohca_port_ops = {
	.port_type_set = ohca_port_type_set,
};
#endif

static void ohca_ports_unregister(struct ohca_dev *dev)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
		if (!port->registered)
			continue;
		if (port->devlink.type == DEVLINK_PORT_TYPE_IB)
			devlink_port_type_clear(&port->devlink);
		devl_port_unregister(&port->devlink);
		port->registered = false;
	}
}

/* devlink's lock is held.  After an error, no port is registered. */
static int ohca_ports_register(struct ohca_dev *dev)
{
	struct ohca_port *port;
	int err;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
#if OHCA_COMPAT_DEVLINK_PORT_OPS
		err = devl_port_register_with_ops(dev->devlink, &port->devlink, port->num,
						  &ohca_port_ops);
#else
		err = devl_port_register(dev->devlink, &port->devlink, port->num);
#endif
		if (err)
			goto err_ports;
		port->registered = true;
	}
	return 0;

err_ports:
	ohca_ports_unregister(dev);
	return err;
}

int ohca_devlink_ports_init(struct ohca_dev *dev)
{
	int err;

	devl_lock(dev->devlink);
	err = ohca_ports_register(dev);
	devl_unlock(dev->devlink);
	return err;
}

void ohca_devlink_ports_fini(struct ohca_dev *dev)
{
	devl_lock(dev->devlink);
	ohca_ports_unregister(dev);
	devl_unlock(dev->devlink);
}

void ohca_devlink_port_set_ib(struct ohca_port *port, struct ib_device *ibdev)
{
	if (port->registered)
		devlink_port_type_ib_set(&port->devlink, ibdev);
}

/* A fenced device is recovered instead.  devlink allows no port, and so no netdev, meanwhile. */
static int ohca_devlink_reload_down(struct devlink *devlink, bool netns_change,
				    enum devlink_reload_action action,
				    enum devlink_reload_limit limit, struct netlink_ext_ack *extack)
{
	struct ohca_dev *dev = ((struct ohca_devlink *)devlink_priv(devlink))->dev;
	int err;

	if (netns_change) {
		NL_SET_ERR_MSG_MOD(extack, "the network interface stays in its namespace");
		return -EOPNOTSUPP;
	}

	err = ohca_reinit_stop(dev);
	if (err) {
		NL_SET_ERR_MSG_MOD(extack, "device is fenced");
		return err;
	}
	ohca_en_fini(dev);
	ohca_ports_unregister(dev);
	return 0;
}

/* The device works even without ports in devlink. */
static int ohca_devlink_reload_up(struct devlink *devlink, enum devlink_reload_action action,
				  enum devlink_reload_limit limit, u32 *actions_performed,
				  struct netlink_ext_ack *extack)
{
	struct ohca_dev *dev = ((struct ohca_devlink *)devlink_priv(devlink))->dev;
	int err, ports_err;

	ports_err = ohca_ports_register(dev);
	err = ohca_reinit_start(dev);
	if (ports_err)
		NL_SET_ERR_MSG_MOD(extack, "the ports are not shown until the next reload");
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return err ?: ports_err;
}

static const struct devlink_ops ohca_devlink_ops = {
	.info_get = ohca_devlink_info_get,
#if !OHCA_COMPAT_DEVLINK_PORT_OPS
	.port_type_set = ohca_port_type_set,
#endif
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = ohca_devlink_reload_down,
	.reload_up = ohca_devlink_reload_up,
};

static int ohca_fatal_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			       struct netlink_ext_ack *extack)
{
	struct ohca_devlink *priv = devlink_health_reporter_priv(reporter);
	struct ohca_dev *dev = priv->dev;

	devlink_fmsg_bool_pair_put(fmsg, "fenced", ohca_fenced(dev));
	devlink_fmsg_u32_pair_put(fmsg, "heartbeat", READ_ONCE(dev->health.heartbeat));
	return 0;
}

/* The registers at the time when the device was fenced */
static int ohca_fatal_dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			   void *priv_ctx, struct netlink_ext_ack *extack)
{
	struct ohca_devlink *priv = devlink_health_reporter_priv(reporter);
	struct ohca_fence *fence = &priv->dev->fence;
	const char *reason = smp_load_acquire(&fence->reason); /* see ohca_quiesced() */

	if (!reason)
		return 0;

	devlink_fmsg_string_pair_put(fmsg, "reason", reason);
	devlink_fmsg_u32_pair_put(fmsg, "status", fence->status);
	devlink_fmsg_u32_pair_put(fmsg, "fatal", fence->fatal);
	return 0;
}

/* Without @ctx, the user requested the recovery, and waits for its result. */
static int ohca_fatal_recover(struct devlink_health_reporter *reporter, void *ctx,
			      struct netlink_ext_ack *extack)
{
	struct ohca_devlink *priv = devlink_health_reporter_priv(reporter);
	int err;

	if (ctx) {
		ohca_recover_begin(priv->dev);
		return -EINPROGRESS;
	}

	err = ohca_recover_now(priv->dev);
	if (err == -ENODEV)
		NL_SET_ERR_MSG_MOD(extack, "device is absent");
	else if (err)
		NL_SET_ERR_MSG_MOD(extack, "device does not come up");
	return err;
}

static const struct devlink_health_reporter_ops ohca_fatal_ops = {
	.name = "fatal",
	.recover = ohca_fatal_recover,
	.diagnose = ohca_fatal_diagnose,
	.dump = ohca_fatal_dump,
};

int ohca_devlink_init(struct ohca_dev *dev)
{
	struct ohca_devlink *priv;
	struct devlink *devlink;
	int err;

	devlink = devlink_alloc(&ohca_devlink_ops, sizeof(*priv), ohca_dmadev(dev));
	if (!devlink)
		return -ENOMEM;

	priv = devlink_priv(devlink);
	priv->dev = dev;
	ohca_compat_devlink_setup(devlink);
	priv->fatal = devlink_health_reporter_create(devlink, &ohca_fatal_ops, priv);
	if (IS_ERR(priv->fatal)) {
		err = PTR_ERR(priv->fatal);
		devlink_free(devlink);
		return err;
	}
	dev->devlink = devlink;
	return 0;
}

void ohca_devlink_fini(struct ohca_dev *dev)
{
	struct ohca_devlink *priv = devlink_priv(dev->devlink);

	devlink_health_reporter_destroy(priv->fatal);
	devlink_free(dev->devlink);
}

void ohca_devlink_show(struct ohca_dev *dev)
{
	devlink_register(dev->devlink);
}

void ohca_devlink_hide(struct ohca_dev *dev)
{
	devlink_unregister(dev->devlink);
}

void ohca_devlink_report_fatal(struct ohca_dev *dev, const char *reason)
{
	struct ohca_devlink *priv = devlink_priv(dev->devlink);

	devlink_health_report(priv->fatal, reason, dev);
}

/*
 * The lock of devlink is held, as in a recovery by the user.  After that, devlink itself reports
 * the success.
 */
void ohca_devlink_report_recovery(struct ohca_dev *dev)
{
	struct ohca_devlink *priv = devlink_priv(dev->devlink);

	devl_lock(dev->devlink);
	if (ohca_recover_done(dev)) {
		devlink_health_reporter_recovery_done(priv->fatal);
		devlink_health_reporter_state_update(priv->fatal,
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
	}
	devl_unlock(dev->devlink);
}
