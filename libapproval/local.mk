# SPDX-License-Identifier: MIT
include libapproval/wire/local.mk
include libapproval/lib.mk
noinst_HEADERS += libapproval/limits.h libapproval/bytes.h
