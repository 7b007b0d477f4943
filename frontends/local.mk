# SPDX-License-Identifier: MIT
include frontends/common/local.mk
include frontends/ctl/local.mk
include frontends/hook/local.mk
include frontends/policy/local.mk
include frontends/run/local.mk
include frontends/harness/local.mk
