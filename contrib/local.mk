# SPDX-License-Identifier: MIT
include contrib/completions.mk
EXTRA_DIST += contrib/build contrib/count-tests contrib/demo contrib/install-deps
