// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of the vfio-user protocol.  They are not trusted: lengths are compared with the
 * number of bytes that were received, indices and ranges are checked, and a request that fails
 * changes nothing.
 */

#include <errno.h>
#include <string.h>
#include <linux/vfio.h>

#include "base/json.h"
#include "vfio/vfio_user_msg.h"

#define JSON_DEPTH 8
#define MAX_JSON 4096

/* argsz of the VFIO structures must be at least the size of the structure. */
static bool bad_args(const struct vfio_user_request *req, size_t len)
{
	uint32_t argsz;

	if (req->in_len < len)
		return true;
	memcpy(&argsz, req->in, sizeof(argsz));
	return argsz < len;
}

static void reply(struct vfio_user_request *req, const void *data, uint32_t len)
{
	memcpy(req->out, data, len);
	req->out_len = len;
}

/* Version */

/* A reply may only contain capabilities that the client proposed. */
static int add_caps(struct json_object *theirs, struct json_object *ours)
{
	static const struct {
		const char *name;
		int64_t value;
	} limits[] = {
		{"max_msg_fds", VFIO_USER_MAX_FDS},
		{"max_data_xfer_size", VFIO_USER_MAX_DATA},
		{"max_dma_maps", VFIO_USER_MAX_DMA_MAPS},
		{"pgsizes", 4096},
	};
	struct json_object *cap;
	unsigned int i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!json_object_object_get_ex(theirs, limits[i].name, &cap))
			continue;
		if (!json_object_is_type(cap, json_type_int) || json_object_get_int64(cap) < 0)
			return -EINVAL;
		json_object_object_add(ours, limits[i].name,
				       json_object_new_int64(limits[i].value));
	}
	if (json_object_object_get_ex(theirs, "write_multiple", &cap)) {
		if (!json_object_is_type(cap, json_type_boolean))
			return -EINVAL;
		json_object_object_add(ours, "write_multiple", json_object_new_boolean(1));
	}
	return 0;
}

static int negotiate_caps(const char *text, size_t len, struct json_object *ours)
{
	struct json_object *root, *theirs;
	int err = 0;

	if (!len)
		return 0;
	if (len > MAX_JSON || text[len - 1])
		return -EINVAL;
	root = json_parse_object(text, len - 1, JSON_DEPTH);
	if (!root)
		return -EINVAL;
	if (json_object_object_get_ex(root, "capabilities", &theirs)) {
		if (json_object_is_type(theirs, json_type_object))
			err = add_caps(theirs, ours);
		else
			err = -EINVAL;
	}
	json_object_put(root);
	return err;
}

int vfio_user_negotiate(struct vfio_user_request *req)
{
	struct json_object *root = json_object_new_object();
	struct json_object *caps = json_object_new_object();
	struct vfio_user_version version;
	const char *text;
	size_t len;
	int err = -EINVAL;

	req->hang_up = true;
	json_object_object_add(root, "capabilities", caps);
	if (req->in_len < sizeof(version))
		goto out;
	memcpy(&version, req->in, sizeof(version));
	if (version.major != VFIO_USER_MAJOR)
		goto out;
	if (version.minor > VFIO_USER_MINOR)
		version.minor = VFIO_USER_MINOR;
	err = negotiate_caps((const char *)req->in + sizeof(version), req->in_len - sizeof(version),
			     caps);
	if (err)
		goto out;
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
	len = strlen(text) + 1;
	reply(req, &version, sizeof(version));
	memcpy(req->out + sizeof(version), text, len);
	req->out_len += len;
	req->hang_up = false;
out:
	json_object_put(root);
	return err;
}

/* Memory */

static int dma_map(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user_dma_map map;

	if (bad_args(req, sizeof(map)) || req->num_fds > 1)
		return -EINVAL;
	memcpy(&map, req->in, sizeof(map));
	if (map.flags & ~(VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE))
		return -EINVAL;
	return ops->dma_map(dev, map.addr, map.size, req->num_fds ? req->fds[0] : -1, map.offset,
			    map.flags & VFIO_USER_DMA_READABLE, map.flags & VFIO_USER_DMA_WRITABLE);
}

static int dma_unmap(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user_dma_unmap unmap;
	int err = 0;

	if (bad_args(req, sizeof(unmap)))
		return -EINVAL;
	memcpy(&unmap, req->in, sizeof(unmap));
	if (unmap.flags & ~VFIO_USER_DMA_UNMAP_ALL)
		return -EINVAL;
	if (!(unmap.flags & VFIO_USER_DMA_UNMAP_ALL))
		err = ops->dma_unmap(dev, unmap.addr, unmap.size);
	else if (unmap.addr || unmap.size)
		err = -EINVAL;
	else
		ops->dma_unmap_all(dev);
	if (!err)
		reply(req, &unmap, sizeof(unmap));
	return err;
}

/* Regions and interrupts of the device */

static int get_info(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	const uint32_t info[4] = {
		sizeof(info),
		VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		VFIO_PCI_NUM_REGIONS,
		VFIO_PCI_NUM_IRQS,
	};

	(void)ops;
	(void)dev;
	if (bad_args(req, sizeof(info)))
		return -EINVAL;
	reply(req, info, sizeof(info));
	return 0;
}

/* The reply for a region with memory in it, if the client has room for that */
struct region_mem_info {
	struct vfio_region_info info;
	struct vfio_region_info_cap_sparse_mmap cap;
	struct vfio_region_sparse_mmap_area area;
};

static void reply_region_mem(struct vfio_user_request *req, const struct vfio_region_info *info,
			     uint32_t room, const struct vfio_user_mem *mem)
{
	struct region_mem_info out = {
		.info = *info,
		.cap = {.header = {.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP, .version = 1},
			.nr_areas = 1},
		.area = {.offset = mem->offset, .size = mem->size},
	};

	out.info.argsz = sizeof(out);
	out.info.flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
	out.info.cap_offset = offsetof(struct region_mem_info, cap);
	/* A client without room repeats the request with more. */
	if (room < sizeof(out)) {
		reply(req, &out.info, sizeof(out.info));
		return;
	}
	reply(req, &out, sizeof(out));
	req->out_fd = mem->fd;
}

static int get_region_info(struct vfio_user_request *req, const struct vfio_user_ops *ops,
			   void *dev)
{
	struct vfio_region_info info;
	struct vfio_user_mem mem;
	uint32_t index, room;

	if (bad_args(req, sizeof(info)))
		return -EINVAL;
	memcpy(&info, req->in, sizeof(info));
	index = info.index;
	room = info.argsz;
	if (index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	memset(&info, 0, sizeof(info));
	info.argsz = sizeof(info);
	info.index = index;
	info.size = ops->region_size(dev, index);
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (ops->region_mem(dev, index, &mem))
		reply_region_mem(req, &info, room, &mem);
	else
		reply(req, &info, sizeof(info));
	return 0;
}

static int get_irq_info(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_irq_info info;

	if (bad_args(req, sizeof(info)))
		return -EINVAL;
	memcpy(&info, req->in, sizeof(info));
	if (info.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.flags = 0;
	info.count = ops->irq_count(dev, info.index, &info.flags);
	reply(req, &info, sizeof(info));
	return 0;
}

/* Requests on interrupts */

static bool one_bit(uint32_t bits)
{
	return bits && !(bits & (bits - 1));
}

static int set_irqs(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user_irqs irqs;
	struct vfio_irq_set set;
	uint32_t flags, total;

	if (bad_args(req, sizeof(set)))
		return -EINVAL;
	memcpy(&set, req->in, sizeof(set));
	if (set.argsz > req->in_len || set.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	irqs.index = set.index;
	irqs.action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	irqs.data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	irqs.start = set.start;
	irqs.count = set.count;
	irqs.bools = NULL;
	irqs.fds = NULL;
	if (set.flags & ~(VFIO_IRQ_SET_ACTION_TYPE_MASK | VFIO_IRQ_SET_DATA_TYPE_MASK) ||
	    !one_bit(irqs.action) || !one_bit(irqs.data))
		return -EINVAL;
	total = ops->irq_count(dev, set.index, &flags);
	if (set.start > total || set.count > total - set.start)
		return -EINVAL;
	if (!set.count && (set.start || irqs.data != VFIO_IRQ_SET_DATA_NONE ||
			   irqs.action != VFIO_IRQ_SET_ACTION_TRIGGER))
		return -EINVAL;
	if (irqs.data == VFIO_IRQ_SET_DATA_BOOL) {
		if (req->in_len - sizeof(set) < set.count)
			return -EINVAL;
		irqs.bools = req->in + sizeof(set);
	}
	if (irqs.data == VFIO_IRQ_SET_DATA_EVENTFD && req->num_fds) {
		if (req->num_fds != set.count)
			return -EINVAL;
		irqs.fds = req->fds;
	}
	return ops->set_irqs(dev, &irqs);
}

/* Requests on regions */

static int check_access(const struct vfio_user_region_rw *rw, const struct vfio_user_ops *ops,
			void *dev)
{
	uint64_t size;

	if (rw->region >= VFIO_PCI_NUM_REGIONS || !rw->count || rw->count > VFIO_USER_MAX_DATA)
		return -EINVAL;
	size = ops->region_size(dev, rw->region);
	if (rw->offset > size || rw->count > size - rw->offset)
		return -EINVAL;
	return 0;
}

static int region_read(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user_region_rw rw;
	int err;

	if (req->in_len < sizeof(rw))
		return -EINVAL;
	memcpy(&rw, req->in, sizeof(rw));
	err = check_access(&rw, ops, dev);
	if (!err)
		err = ops->region_read(dev, rw.region, rw.offset, req->out + sizeof(rw), rw.count);
	if (err)
		return err;
	reply(req, &rw, sizeof(rw));
	req->out_len += rw.count;
	return 0;
}

static int region_write(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user_region_rw rw;
	int err;

	if (req->in_len < sizeof(rw))
		return -EINVAL;
	memcpy(&rw, req->in, sizeof(rw));
	if (rw.count > req->in_len - sizeof(rw))
		return -EINVAL;
	err = check_access(&rw, ops, dev);
	if (!err)
		err = ops->region_write(dev, rw.region, rw.offset, req->in + sizeof(rw), rw.count);
	if (!err)
		reply(req, &rw, sizeof(rw));
	return err;
}

static struct vfio_user_region_write1 multi_at(const struct vfio_user_request *req, uint64_t i)
{
	struct vfio_user_region_write1 wr;

	memcpy(&wr, req->in + sizeof(uint64_t) + i * sizeof(wr), sizeof(wr));
	return wr;
}

/*
 * All writes are checked before the first one is executed.  They are executed at once, so their number is limited: as many
 * as fit into a message would hold up other clients for milliseconds.
 */
static int region_write_multi(struct vfio_user_request *req, const struct vfio_user_ops *ops,
			      void *dev)
{
	struct vfio_user_region_write1 wr;
	uint64_t count, i;
	int err;

	if (req->in_len < sizeof(count))
		return -EINVAL;
	memcpy(&count, req->in, sizeof(count));
	if (count > VFIO_USER_MAX_WRITES || count > (req->in_len - sizeof(count)) / sizeof(wr))
		return -EINVAL;
	for (i = 0; i < count; i++) {
		wr = multi_at(req, i);
		if (wr.rw.count > sizeof(wr.data) || check_access(&wr.rw, ops, dev))
			return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		wr = multi_at(req, i);
		err = ops->region_write(dev, wr.rw.region, wr.rw.offset, wr.data, wr.rw.count);
		if (err)
			return err;
	}
	reply(req, &count, sizeof(count));
	return 0;
}

static int device_reset(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	(void)req;
	ops->reset(dev);
	return 0;
}

int vfio_user_execute(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	static int (*const commands[])(struct vfio_user_request *req,
				       const struct vfio_user_ops *ops, void *dev) = {
		[VFIO_USER_DMA_MAP] = dma_map,
		[VFIO_USER_DMA_UNMAP] = dma_unmap,
		[VFIO_USER_DEVICE_GET_INFO] = get_info,
		[VFIO_USER_DEVICE_GET_REGION_INFO] = get_region_info,
		[VFIO_USER_DEVICE_GET_IRQ_INFO] = get_irq_info,
		[VFIO_USER_DEVICE_SET_IRQS] = set_irqs,
		[VFIO_USER_REGION_READ] = region_read,
		[VFIO_USER_REGION_WRITE] = region_write,
		[VFIO_USER_DEVICE_RESET] = device_reset,
		[VFIO_USER_REGION_WRITE_MULTI] = region_write_multi,
	};

	if (req->hdr.cmd == VFIO_USER_VERSION)
		return -EINVAL;
	if (req->hdr.cmd >= sizeof(commands) / sizeof(commands[0]) || !commands[req->hdr.cmd])
		return -ENOTSUP;
	return commands[req->hdr.cmd](req, ops, dev);
}
