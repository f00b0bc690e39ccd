#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sum of a run must not be greener than the run: each way in which a test can go wrong, and nothing else, is counted.
set -u
tap_run=${CUVMM_BUILD-build}/bin/tap-run
folder=$(mktemp -d "${TMPDIR:-/tmp}/tally_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
points=0
failures=0

# check NAME EXPECTED-LINE EXPECTED-STATUS SHELL-COMMAND: the command is the test that tap-run runs.
check() {
    local taps="$folder/taps" got status
    rm -rf "$taps"
    mkdir "$taps"
    printf '#!/bin/sh\n%s\n' "$4" >"$folder/sample"
    chmod +x "$folder/sample"
    "$tap_run" "$taps" "$folder/sample" >/dev/null
    got=$(ci/tally "$taps" 2>"$folder/said" | tail -n 1)
    ci/tally "$taps" >/dev/null 2>&1
    status=$?
    points=$((points + 1))
    if [ "$got" = "$2" ] && [ "$status" = "$3" ]; then
        echo "ok $points - $1"
    else
        failures=$((failures + 1))
        echo "not ok $points - $1"
        echo "#   got '$got' and status $status; $(tr '\n' ' ' <"$folder/said")"
    fi
}

check 'passes' '2 passed, 0 failed, 0 skipped' 0 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
check 'a failure' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1'
check 'a skip is no pass' '1 passed, 0 failed, 1 skipped' 0 'echo "ok 1 - a # SKIP no device"; echo "ok 2 - b"; echo 1..2'
check 'a waived point is neither' '1 passed, 0 failed, 0 skipped' 0 'echo "not ok 1 - a # TODO w1"; echo "ok 2"; echo 1..2'
check 'a stale waiver fails' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a # TODO w1"; echo "ok 2 - b"; echo 1..2'
check 'a program skipped whole' '0 passed, 0 failed, 1 skipped' 0 'echo "1..0 # SKIP no device"'
check 'a program that ran nothing' '0 passed, 1 failed, 0 skipped' 1 'echo 1..0'
check 'a program that printed nothing' '0 passed, 1 failed, 0 skipped' 1 'exit 0'
check 'no plan' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"'
check 'a plan not kept' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"; echo 1..2'
check 'more than was planned' '2 passed, 1 failed, 0 skipped' 1 'echo 1..1; echo "ok 1 - a"; echo "ok 2 - b"'
check 'a bail-out' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"; echo "Bail out! broken"; exit 255'
check 'a bad end after passes' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"; echo 1..1; exit 3'
check 'killed' '1 passed, 1 failed, 0 skipped' 1 'echo "ok 1 - a"; echo 1..1; kill -9 $$'

points=$((points + 1))
mkdir "$folder/none"
if [ "$(ci/tally "$folder/none" 2>/dev/null)" = '0 passed, 1 failed, 0 skipped' ]; then
    echo "ok $points - a folder without tests is a failure"
else
    failures=$((failures + 1))
    echo "not ok $points - a folder without tests is a failure"
fi
check 'a failure that says why' '0 passed, 1 failed, 0 skipped' 1 'echo "not ok 1 - a"; echo "#   got 3"; echo 1..1; exit 1'
points=$((points + 1))
if [ "$(tail -n 1 "$folder/said")" = 'tally:   #   got 3' ]; then
    echo "ok $points - and is reported with it"
else
    failures=$((failures + 1))
    echo "not ok $points - and is reported with it"
fi
mkdir "$folder/two"
printf 'ok 1 - a\n1..1\n# exit status 0\n' >"$folder/two/a.tap"
printf 'not ok 1 - a\n1..1\n# exit status 1\n' >"$folder/two/b.tap"
points=$((points + 1))
if [ -z "$(ci/tally -q "$folder/two" 2>/dev/null)" ] && ! ci/tally -q "$folder/two" 2>/dev/null; then
    echo "ok $points - -q prints no sum and keeps the status"
else
    failures=$((failures + 1))
    echo "not ok $points - -q prints no sum and keeps the status"
fi
points=$((points + 1))
if ci/tally "$folder/two" 2>&1 >/dev/null | grep -q 'b.tap: not ok 1 - a'; then
    echo "ok $points - a failure is named with its file"
else
    failures=$((failures + 1))
    echo "not ok $points - a failure is named with its file"
fi
points=$((points + 1))
if [ "$(ci/tally "$folder/two" "$folder/two" 2>/dev/null)" = '2 passed, 2 failed, 0 skipped' ]; then
    echo "ok $points - several folders are added up"
else
    failures=$((failures + 1))
    echo "not ok $points - several folders are added up"
fi
# prove ends every other test at a bail-out that it sees.
mkdir "$folder/bails"
printf '#!/bin/sh\necho "ok 1 - a"\necho "Bail out! broken"\nexit 255\n' >"$folder/first"
printf '#!/bin/sh\necho "ok 1 - a"\necho 1..1\n' >"$folder/second"
chmod +x "$folder/first" "$folder/second"
prove -e "$tap_run $folder/bails" "$folder/first" "$folder/second" >/dev/null 2>&1
status=$?
points=$((points + 1))
if [ "$status" -ne 0 ] && [ "$(ci/tally "$folder/bails" 2>"$folder/said")" = '2 passed, 1 failed, 0 skipped' ] &&
    grep -q 'Bail out! broken' "$folder/said"; then
    echo "ok $points - a bail-out fails its own test, and the others run"
else
    failures=$((failures + 1))
    echo "not ok $points - a bail-out fails its own test, and the others run"
fi
echo "1..$points"
[ "$failures" -eq 0 ]
