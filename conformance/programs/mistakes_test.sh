#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each mistake of the exercises' mistakes.list is caught by its point with its rule: ci/mutate makes them one at a time, and
# conformance/corpus/exercises_caught.sh judges.
set -u
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build is not what students link with"
    exit 0
fi
if ! python3 -c 'import os; os.pidfd_open' 2>/dev/null; then
    echo "1..0 # SKIP needs Python 3.9"
    exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
# More at a time than there are processors: some come to no end, and wait.
exec ci/mutate --rows conformance/corpus/exercises/mistakes.list --judge conformance/corpus/exercises_caught.sh \
    --build "${CUVMM_BUILD-build}" --jobs 4 "$@"
