#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/checker_programs_test.sh with every program under every schedule and more random work, for `make check-ci`.
CHECKER_RUNS='' CHECKER_SEEDS=${CHECKER_SEEDS-400} exec ci/checker_programs_test.sh
