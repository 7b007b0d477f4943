# SPDX-License-Identifier: MIT
# The parts stand in a convenience library, so that the tests reach what the map hides.
noinst_LTLIBRARIES += libapproval/libclient.la
libapproval_libclient_la_SOURCES = \
	libapproval/client.c libapproval/client.h \
	libapproval/client_call.c libapproval/client_link.c \
	libapproval/client_state.c libapproval/client_state.h \
	libapproval/client_wait.c \
	libapproval/decision.c \
	libapproval/failure.c \
	libapproval/frontend.c \
	libapproval/hello.c \
	libapproval/options.c \
	libapproval/packer.c \
	libapproval/place.c libapproval/place.h \
	libapproval/trust.c libapproval/trust.h \
	libapproval/turn.c \
	libapproval/value.c libapproval/value.h
libapproval_libclient_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

lib_LTLIBRARIES += libapproval.la
libapproval_la_SOURCES = libapproval/version.c
libapproval_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libapproval_la_LIBADD = libapproval/libclient.la libapproval/wire/libwire.la
libapproval_la_LDFLAGS = -version-info @LIBAPPROVAL_VERSION_INFO@ -no-undefined \
	-Wl,--version-script=$(srcdir)/libapproval/libapproval.map
EXTRA_libapproval_la_DEPENDENCIES = $(srcdir)/libapproval/libapproval.map
EXTRA_DIST += libapproval/libapproval.map

include_HEADERS = libapproval/approval.h
pkgconfig_DATA = libapproval/approval.pc
