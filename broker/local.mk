# SPDX-License-Identifier: MIT
include broker/core/local.mk
include broker/core/shell/local.mk
include broker/io/local.mk
include broker/store/local.mk
include broker/daemon.mk
include broker/core/rules/local.mk
include broker/core/floor/local.mk
