#!/bin/sh
# SPDX-License-Identifier: MIT
exec "$(dirname "$0")/check.sh" test_settings.py
