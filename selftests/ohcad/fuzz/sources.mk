# SPDX-License-Identifier: GPL-2.0
# What the fuzz targets are made of: objects of the device, of the tests' helpers and of this folder.  DEV is the device.

FUZZ_TARGETS := commands control ib_packets mads packets vfio_user

# Without the parts that a target stands in for, or has no use for
fuzz_dev = $(filter-out base/log fabric/uplink_sock fabric/uplink_tap sandbox/% $(1),$(DEV_SOURCES))
FUZZ_DEV_commands := $(call fuzz_dev,base/json base/listener base/scm control/% vfio/config vfio/gone vfio/keeper vfio/msix \
	vfio/pci vfio/vfio_user%)
FUZZ_DEV_control := $(call fuzz_dev,base/listener capture/capture_file vfio/config vfio/gone vfio/keeper vfio/msix \
	vfio/pci vfio/vfio_user%)
FUZZ_DEV_ib_packets := $(FUZZ_DEV_commands)
FUZZ_DEV_mads := $(FUZZ_DEV_commands)
FUZZ_DEV_packets := $(FUZZ_DEV_commands)
FUZZ_DEV_vfio_user := $(call fuzz_dev,base/listener control/%)

FUZZ_HELPERS_commands := drv inproc mad_request rig rig_odp rig_srq subnet
FUZZ_HELPERS_control := $(FUZZ_HELPERS_commands)
FUZZ_HELPERS_ib_packets := $(FUZZ_HELPERS_commands)
FUZZ_HELPERS_mads := $(FUZZ_HELPERS_commands)
FUZZ_HELPERS_packets := $(FUZZ_HELPERS_commands)

FUZZ_OWN_commands := commands commands_seeds neighbours records scene uplink_end world
FUZZ_OWN_control := capture_end control control_seeds listener_end scene speaker uplink_end world
FUZZ_OWN_ib_packets := ib_packets ib_packets_seeds records uplink_end world
FUZZ_OWN_mads := mads mads_seeds records uplink_end world
FUZZ_OWN_packets := packets packets_seeds records scene uplink_end world
FUZZ_OWN_vfio_user := listener_end uplink_end vfio_user vfio_user_seeds world

# A target may have its own in front of functions of the device.
FUZZ_LDFLAGS_vfio_user := -Wl,--wrap=vfio_user_execute,--wrap=vfio_user_negotiate

# objects FOLDER,NAMES
objects = $(addsuffix .o,$(addprefix $(1),$(2)))
