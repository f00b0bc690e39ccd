#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034
# test_head.sh - how a shell test begins and ends, to be sourced: . ci/test_head.sh
#
#   build    the folder of the build, as make check names it (CUVMM_BUILD)
#   work     a folder that is removed at the end; said is a file in it, what `ok` shows of a failure
#   finish   prints the plan, and exits with 1 where a point failed
#
# and the functions of ci/tap.sh.
set -u
. ci/tap.sh
build=${CUVMM_BUILD-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX") || exit 1
said=$work/said
trap 'rm -rf "$work"' EXIT

finish() {
    echo "1..$points"
    exit "$((failures > 0))"
}
