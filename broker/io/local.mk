# SPDX-License-Identifier: MIT
noinst_HEADERS += broker/io/process.h broker/io/ancestry.h broker/io/workspace.h \
	broker/io/resolver.h broker/io/account.h broker/io/peer.h broker/io/listener.h \
	broker/log.h broker/config.h broker/service.h
