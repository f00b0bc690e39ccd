#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/limit: what it passes on, and what it ends.
set -u
cd "$(dirname "$0")/.." || exit 1
. ci/tap.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

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
status 255 "a limit that is no number of seconds" ci/limit soon true

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
echo "1..$points"
[ "$failures" -eq 0 ]
