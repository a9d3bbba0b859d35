# SPDX-License-Identifier: GPL-2.0
#
# The driver builds like any out-of-tree module:
#   make [KDIR=...]            ohca.ko for the running (or another) kernel
#   make modules_install [INSTALL_MOD_PATH=...]
#                              installs it, and has depmod index it for modprobe
# Everything else needs no RDMA, no KVM and no root, and lives in your cache folder (see
# "tools/lab/ohca-lab --help"):
#   make demo                  two machines on one fabric, measured beside soft-RoCE
#   make demo LINK=ib          two machines on an InfiniBand subnet, measured beside TCP over IPoIB
#   make check                 all tests, on two of the supported kernels (Documentation/testing.rst)
#   make check [TEST=test_qp] [KERNEL=6.12] [JUNIT=FILE] [RESULTS=DIR] [RESUME=DIR] [JOBS=N]
#                              only those that match (a name or a shell pattern), on this kernel; results as
#                              JUnit's XML; output and logs of each set in a folder; sets at once. All but
#                              KERNEL serve check-all and check-debug, too
#   make check-all             all tests on every kernel, the long forms too, with the next two
#   make check-debug           the tests of kernel code on a kernel with KASAN, lockdep, kmemleak …
#   make check-pyverbs         rdma-core's own tests, on both link layers and on soft-RoCE
#   make bench [ROWS="bw lat"] [RUNS=3] [QUICK=1]
#                              what machines get of it, beside soft-RoCE and the limits: build/bench/bench.md,
#                              in a quarter of an hour (QUICK=1: three minutes)
#   make bench-device          what a message costs the device: build/bench/device.md
#   make bench-compare REV=COMMIT [WITH=COMMIT] [OF=device] [QUICK=1]
#                              results of that commit and of the checkout (or WITH), of bench-device or (OF=bench) of
#                              bench: what is worse first. What was not measured on this host is measured
#   make bench-ulp [SMP=1]     NFS and NVMe beside soft-RoCE and TCP: build/bench/ulp.md
#   make fuzz [SECONDS=60] [FUZZER=packets]
#                              inputs made up by libFuzzer, for the device and what can reach it
#   make lint                  style and static checks
#   make html                  the site of the documentation: build/html/index.html
#   make deb [SUITES=bookworm]  packages for Debian: build/deb/SUITE
#   make image [IMAGE=ohca]    a container image of the lab, for podman and others (Documentation/ci.rst)
#   make setup build           only what the above need
#   make clean                 removes build results from this folder

KDIR ?= /lib/modules/$(shell uname -r)/build
DEPMOD ?= depmod
LAB := tools/lab/ohca-lab

all: modules

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

# The kernel's own rule indexes modules only if KDIR has a System.map, which Debian's headers lack.
modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@
	PATH=$$PATH:/usr/sbin:/sbin $(DEPMOD) $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) \
		$$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

setup build lint:
	$(LAB) $@

demo:
	LINK='$(LINK)' tools/lab/demo.sh

CHECK = selftests/run.sh $(foreach t,$(TEST),--test '$t') $(if $(JUNIT),--junit '$(JUNIT)') \
	$(if $(RESULTS),--results '$(RESULTS)') \
	$(if $(RESUME),--resume '$(RESUME)') $(if $(JOBS),--jobs '$(JOBS)')

check:
	@$(CHECK) $(foreach k,$(KERNEL),--kernel '$k')

check-all:
	@$(CHECK) --all

check-debug:
	@$(CHECK) --kernel debug

check-pyverbs:
	selftests/pyverbs/run.sh

bench:
	tools/bench/bench.sh

bench-device:
	tools/bench/device.sh

bench-compare:
	@REV='$(REV)' WITH='$(WITH)' OF='$(OF)' tools/bench/compare.sh

bench-ulp:
	tools/bench/ulp.sh

fuzz:
	selftests/ohcad/fuzz/run.sh $(or $(SECONDS),60) $(FUZZER)

html:
	tools/html.sh

deb:
	tools/deb/make.sh $(SUITES)

image:
	tools/ci/image.sh $(or $(IMAGE),ohca)

clean:
	rm -rf build
	[ ! -d $(KDIR) ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean

.PHONY: all modules modules_install setup build lint demo check check-all check-debug check-pyverbs bench bench-device bench-compare bench-ulp fuzz html deb image clean
