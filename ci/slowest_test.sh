#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/slowest: what tests took is added up, and printed with the longest first.
. ci/test_head.sh
tap_run=${CUVMM_BUILD-build}/bin/tap-run
mkdir "$work/taps"

took() { # took NAME PROCESSOR CLOCK: as tap-run leaves it
    printf '%s\n' '0m9.000s 0m9.000s' "$2 0m0.500s" "100.25 $3" >"$work/taps/build_test_api_$1.time"
}

took short 0m1.000s 102.25
took long 1m2.000s 200.25
took none 0m0.000s 100.25
ci/slowest -n 2 "$work/taps" 2>&1 | sed 's/^ *//' >"$said"
printf '%s\n' '64.5 s of processor in 3 tests; the slowest (processor, clock):' '62.5    100.0  api_long' '1.5      2.0  api_short' |
    diff - "$said" >"$work/diff"
ok $? 'sum and order, and no more than were asked for' "$work/diff"
printf '#!/bin/sh\necho 1..0 \\# SKIP\n' >"$work/it"
chmod +x "$work/it"
"$tap_run" "$work" "$work/it" >/dev/null && ci/slowest "$work" >"$said" 2>&1 && grep -q ' in 1 tests' "$said"
ok $? 'what tap-run leaves can be read'
mkdir "$work/empty"
! ci/slowest "$work/empty" >"$said" 2>&1 && grep -qF "no test ran in $work/empty" "$said"
ok $? 'where nothing ran, the output is a line about that'
finish
