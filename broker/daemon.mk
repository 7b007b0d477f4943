# SPDX-License-Identifier: MIT
bin_PROGRAMS += approvald
approvald_SOURCES = broker/main.c
