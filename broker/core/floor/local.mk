# SPDX-License-Identifier: MIT
# What always asks; pure, as all of the core.
broker_core_libcore_la_SOURCES += \
	broker/core/floor/addition.c \
	broker/core/floor/addition.h \
	broker/core/floor/archive.c \
	broker/core/floor/check.c \
	broker/core/floor/entry.h \
	broker/core/floor/find.c \
	broker/core/floor/floor.c \
	broker/core/floor/floor.h \
	broker/core/floor/form.c \
	broker/core/floor/form.h \
	broker/core/floor/name.c \
	broker/core/floor/name.h \
	broker/core/floor/normal.c \
	broker/core/floor/normal.h \
	broker/core/floor/path.c \
	broker/core/floor/path.h \
	broker/core/floor/place.c \
	broker/core/floor/place.h \
	broker/core/floor/use.c \
	broker/core/floor/use.h \
	broker/core/floor/walk.c \
	broker/core/floor/walk.h \
	broker/core/floor/wild.c \
	broker/core/floor/wild.h \
	broker/core/floor/word.c
