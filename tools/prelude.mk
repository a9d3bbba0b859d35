# SPDX-License-Identifier: GPL-2.0
# What every makefile of programs begins with: where to build them (the folder O), with what, and how loudly.

ifeq ($(O),)
$(error set O to the directory for the build's output)
endif

CC ?= gcc
Q := $(if $(V),,@)
PKG_CONFIG ?= pkg-config

DIALECT := -std=gnu11 -D_GNU_SOURCE
WARNINGS := -Wall -Wextra -Werror
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
