# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += broker/core/libcore.la
broker_core_libcore_la_SOURCES = \
	broker/core/types.c \
	broker/core/types.h
