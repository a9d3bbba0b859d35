# SPDX-License-Identifier: GPL-2.0
# What the makefiles of the programs share.  It makes PROGRAM, in the folder O, of all the sources that are there and in the
# folders below, with the libraries PACKAGES as pkg-config knows them and LIBS.

include ../prelude.mk

CFLAGS ?= -O2 -g

override CFLAGS += $(DIALECT) $(WARNINGS) -I../../include -I.
override CFLAGS += $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES)) $(LIBS)

ifneq ($(SAN),)
override CFLAGS += $(SANITIZERS)
override LDFLAGS += $(SANITIZERS)
endif

OBJS := $(patsubst %.c,$(O)/%.o,$(wildcard *.c */*.c))

$(O)/$(PROGRAM): $(OBJS)
	@echo '  LD      $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# An object depends on the flags too, so that a directory can change between plain and SAN=1.
$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

$(O)/flags: FORCE
	@mkdir -p $(O)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' > $@

clean:
	rm -f $(O)/$(PROGRAM) $(O)/flags $(OBJS) $(OBJS:.o=.d)

-include $(OBJS:.o=.d)

.PHONY: FORCE clean
