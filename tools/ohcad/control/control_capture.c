// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket that start, stop and show captures. */

#include <errno.h>
#include <string.h>

#include "fabric/fabric.h"
#include "capture/capture.h"
#include "control/control_cmd.h"

int control_capture_start(struct control_call *call)
{
	enum {
		FILE_ARG,
		SNAPLEN,
		LIMIT
	};
	const struct control_value *value = call->value;
	const struct capture_options opts = {
		.path = (char *)value[FILE_ARG].string,
		.fd = *call->fd,
		.snaplen = value[SNAPLEN].number < UINT32_MAX ? value[SNAPLEN].number : UINT32_MAX,
		.limit = value[LIMIT].number,
	};
	bool passed = !strcmp(opts.path, CAPTURE_PASSED);
	const char *wrong = capture_check(&opts);
	int err;

	if (wrong)
		return control_error(call, EINVAL, "%s", wrong);
	if (passed && opts.fd < 0)
		return control_error(call, EBADF, "no descriptor came with the request");
	err = capture_start(&call->env->fabric->captures, call->env->loop, &opts);
	if (err == -EBUSY)
		return control_error(call, EBUSY, "there is a capture already");
	if (err)
		return control_error(call, -err, "%s: %s", opts.path, strerror(-err));
	if (passed)
		*call->fd = -1;
	return 0;
}

static void put_status(struct control_call *call, const struct capture_status *status)
{
	static const char *const states[] = {
		[CAPTURE_RUNNING] = "running",
		[CAPTURE_STOPPED] = "stopped",
		[CAPTURE_FULL] = "full",
		[CAPTURE_FAILED] = "failed",
	};

	control_put_string(call->result, "state", states[status->state]);
	control_put_string(call->result, "file", status->opts->path);
	control_put_number(call->result, "packets", status->packets);
	control_put_number(call->result, "dropped", status->dropped);
	control_put_number(call->result, "bytes", status->bytes);
	if (status->state == CAPTURE_FAILED)
		control_put_string(call->result, "error", strerror(status->error));
}

int control_capture_stop(struct control_call *call)
{
	if (capture_stop(&call->env->fabric->captures))
		return control_error(call, ENOENT, "there is no capture");
	return control_capture_show(call);
}

int control_capture_show(struct control_call *call)
{
	struct capture_status status;

	if (capture_show(&call->env->fabric->captures, &status))
		put_status(call, &status);
	else
		control_put_string(call->result, "state", "none");
	return 0;
}
