# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libapproval/wire/libwire.la
libapproval_wire_libwire_la_SOURCES = \
	libapproval/wire/code.c libapproval/wire/code.h \
	libapproval/wire/frame.c libapproval/wire/frame.h \
	libapproval/wire/lead.h \
	libapproval/wire/message.c libapproval/wire/message.h \
	libapproval/wire/message_agent.h libapproval/wire/message_frontend.h \
	libapproval/wire/pack.c libapproval/wire/pack.h \
	libapproval/wire/scan.c libapproval/wire/scan.h \
	libapproval/wire/spec.c libapproval/wire/spec.h \
	libapproval/wire/value.c libapproval/wire/value.h
libapproval_wire_libwire_la_CFLAGS = $(AM_CFLAGS) $(MSGPACK_CFLAGS)
libapproval_wire_libwire_la_LIBADD = $(MSGPACK_LIBS)
