# SPDX-License-Identifier: GPL-2.0
# What the makefiles of the programs share.  It makes PROGRAM, in the folder O, of all the sources there are, with the
# libraries PACKAGES as pkg-config knows them and LIBS.

ifeq ($(O),)
$(error set O to the directory for the build's output)
endif

CC ?= gcc
Q := $(if $(V),,@)
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g

override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I../../include
override CFLAGS += $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES)) $(LIBS)

ifneq ($(SAN),)
override CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
override LDFLAGS += -fsanitize=address,undefined
endif

OBJS := $(patsubst %.c,$(O)/%.o,$(wildcard *.c))

$(O)/$(PROGRAM): $(OBJS)
	@echo '  LD      $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# An object depends on the flags too, so that a directory can change between plain and SAN=1.
$(O)/%.o: %.c $(O)/flags
	@echo '  CC      $@'
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/flags: FORCE
	@mkdir -p $(O)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' > $@

clean:
	rm -f $(O)/$(PROGRAM) $(O)/flags $(OBJS) $(OBJS:.o=.d)

-include $(OBJS:.o=.d)

.PHONY: FORCE clean
