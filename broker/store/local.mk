# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += broker/store/libstore.la
broker_store_libstore_la_SOURCES = \
	broker/store/chain.c \
	broker/store/chain.h \
	broker/store/journal.c \
	broker/store/journal.h \
	broker/store/journal_private.h \
	broker/store/memory.c \
	broker/store/memory_history.c \
	broker/store/memory_private.h \
	broker/store/none.c \
	broker/store/record.c \
	broker/store/record.h \
	broker/store/rowmap.c \
	broker/store/rowmap.h \
	broker/store/sqlite.c \
	broker/store/sqlite_column.h \
	broker/store/sqlite_error.c \
	broker/store/sqlite_history.c \
	broker/store/sqlite_load.c \
	broker/store/sqlite_open.c \
	broker/store/sqlite_private.h \
	broker/store/sqlite_put.c \
	broker/store/sqlite_schema.c \
	broker/store/sqlite_verify.c
broker_store_libstore_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(NETTLE_CFLAGS)
broker_store_libstore_la_LIBADD = $(SQLITE_LIBS) $(NETTLE_LIBS)
