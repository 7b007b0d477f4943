# SPDX-License-Identifier: MIT
noinst_HEADERS += libapproval/wire/code.h libapproval/wire/scan.h libapproval/wire/value.h \
	libapproval/wire/frame.h libapproval/wire/pack.h libapproval/wire/spec.h \
	libapproval/wire/message.h libapproval/wire/message_agent.h \
	libapproval/wire/message_frontend.h
