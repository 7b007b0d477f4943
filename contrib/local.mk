# SPDX-License-Identifier: MIT
include contrib/completions.mk
EXTRA_DIST += contrib/build contrib/count-tests contrib/demo contrib/install-deps

# a client in Python; its tests need approvald
EXTRA_DIST += contrib/python/approval_client.py contrib/python/test_approval_client.py \
	contrib/python/check.sh
TESTS += contrib/python/check.sh
