#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/limit: what it passes on, and what it ends.
. ci/test_head.sh
cd "$(dirname "$0")/.." || exit 1

# status EXPECTED NAME COMMAND...
status() {
    local expected=$1 name=$2 got=0
    shift 2
    "$@" >"$work/out" 2>&1 || got=$?
    [ "$got" -eq "$expected" ] || echo "status $got" >>"$work/out"
    [ "$got" -eq "$expected" ]
    ok $? "$name" "$work/out"
}

status 0 "a command that ends well" ci/limit 60 true
status 7 "a command's own status" ci/limit 60 sh -c 'exit 7'
status 137 "a command that a signal ended" ci/limit 60 sh -c 'kill -KILL $$'
status 127 "a command that is not there" ci/limit 60 "$work/none"
status 255 "a limit that is not a number of seconds" ci/limit soon true

# A child in a session of its own, and one that holds the output open.
# shellcheck disable=SC2016 # the inner shell expands it
status 124 "a command that does not end" ci/limit 1 bash -c 'echo "ok 1 - first"; setsid sleep 1000 & echo $! >"$0/one"; sleep 1000 & echo $! >"$0/two"; wait' "$work"
grep -q '^ok 1 - first' "$work/out"
ok $? "its output is kept" "$work/out"
grep -q '^Bail out! no end after 1 s: bash -c ' "$work/out"
ok $? "it is named" "$work/out"
if [ -d /proc/self/task ]; then
    grep -q '^# process [0-9]*: sleep 1000' "$work/out" && grep -q '^#   thread [0-9]* sleep *: state S' "$work/out"
    ok $? "so is what its threads did" "$work/out"
    left=0
    for one in one two; do
        read -r pid <"$work/$one"
        # What has ended may still wait for its parent.
        ! grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null || left=1
    done
    ok $left "nothing of it is left"
else
    skip "so is what its threads did" "there is no /proc"
    skip "nothing of it is left" "there is no /proc"
fi

ci/limit 60 bash -c 'trap "echo told; exit 3" TERM; echo ready; while :; do read -r -t 1 <> <(:) || :; done' >"$work/out" 2>&1 &
limit=$!
until grep -q ready "$work/out"; do
    kill -0 $limit 2>/dev/null || break
done
kill -TERM $limit
wait $limit
[ $? -eq 143 ]
ok $? "a signal of the caller's ends it" "$work/out"

# What runs tests uses it for those that are late alone.
tap_run=${CUVMM_BUILD-build}/bin/tap-run
# shellcheck disable=SC2016 # for the program that is written
printf '%s\n' '#!/bin/sh' 'echo "ok 1 - first"' 'echo "Bail out! its own"' 'sleep 1000 &' 'echo $! >"$1/three"' 'wait' >"$work/endless"
chmod +x "$work/endless"
mkdir "$work/taps"
TAP_LIMIT=1 status 124 "a test that does not end" "$tap_run" "$work/taps" "$work/endless" "$work"
[ "$(grep -c '^# bails out: ' "$work/out")" -eq 2 ] && ! grep -q '^Bail out!' "$work/out"
ok $? "prove sees no bail-out" "$work/out"
kept=$(echo "$work"/taps/*.tap)
grep -q '^ok 1 - first' "$kept" && grep -q '^Bail out! its own' "$kept" && grep -q "^Bail out! no end after 1 s: $work/endless" "$kept" &&
    [ "$(tail -n 1 "$kept")" = '# exit status 124' ]
ok $? "what is kept has both" "$kept"
read -r pid <"$work/three"
! grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null
ok $? "nothing of it is left either"
printf '%s\n' '#!/bin/sh' 'echo "told" >&2' 'printf "ok 1 - without an end of line"' 'kill -SEGV $$' >"$work/dies"
chmod +x "$work/dies"
TAP_LIMIT=60 TAP_STDERR=5 status 139 "a test that a signal ends, with its errors elsewhere" "$tap_run" "$work/taps" "$work/dies" 5>"$work/errors"
grep -qx 'told' "$work/errors" && [ "$(cat "$work/out")" = 'ok 1 - without an end of line' ]
ok $? "each goes where it belongs" "$work/out"
finish
