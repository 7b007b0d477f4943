# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += broker/io/libexplain.la broker/io/libio.la broker/libbroker.la
broker_io_libio_la_SOURCES = \
	broker/io/account.c broker/io/account.h \
	broker/io/ancestry.c broker/io/ancestry.h \
	broker/io/cgroup.c broker/io/cgroup.h \
	broker/io/enforce.c broker/io/enforce.h \
	broker/io/flood.c broker/io/flood.h \
	broker/io/folder.c broker/io/folder.h \
	broker/io/foreign.c broker/io/foreign.h \
	broker/io/listener.c broker/io/listener.h \
	broker/io/peer.c broker/io/peer.h \
	broker/io/peer_input.c broker/io/peer_private.h \
	broker/io/process.c broker/io/process.h \
	broker/io/procfs.c broker/io/procfs.h \
	broker/io/project_file.c broker/io/project_file.h \
	broker/io/resolver.c broker/io/resolver.h \
	broker/io/resolver_job.c broker/io/resolver_job.h \
	broker/io/rule_files.c broker/io/rule_files.h \
	broker/io/stop.c broker/io/stop.h \
	broker/io/surroundings.c \
	broker/io/workspace.c broker/io/workspace.h \
	broker/log.c broker/log.h
broker_io_libio_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
broker_io_libio_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(NETTLE_CFLAGS)
broker_io_libio_la_LIBADD = broker/io/libexplain.la libapproval/wire/libwire.la $(EVENT_LIBS) $(NETTLE_LIBS)

# what a call is, and what is said of it: also for programs beside the broker
broker_io_libexplain_la_SOURCES = \
	broker/io/command_words.c broker/io/command_words.h \
	broker/io/explain.c broker/io/explain.h \
	broker/io/facts.c broker/io/facts.h \
	broker/io/patch.c broker/io/patch.h \
	broker/io/path.c broker/io/path.h
broker_io_libexplain_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
broker_io_libexplain_la_CFLAGS = $(AM_CFLAGS) $(NETTLE_CFLAGS)
broker_io_libexplain_la_LIBADD = broker/core/libcore.la libapproval/wire/libwire.la $(NETTLE_LIBS)

# what the broker is beside its connections
broker_libbroker_la_SOURCES = \
	broker/config.c broker/config.h \
	broker/config_budget.c broker/config_budget.h \
	broker/config_value.c broker/config_value.h \
	broker/service.c broker/service.h
broker_libbroker_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
broker_libbroker_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS) $(EVENT_CFLAGS)
broker_libbroker_la_LIBADD = broker/io/libio.la $(INIH_LIBS)
