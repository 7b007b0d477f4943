# SPDX-License-Identifier: MIT
# What the shells offer is what the programs' help tells of.
completion_tests = tests/completions/bash.sh tests/completions/fish.sh tests/completions/zsh.sh
TESTS += $(completion_tests)
EXTRA_DIST += $(completion_tests) tests/completions/check.sh
