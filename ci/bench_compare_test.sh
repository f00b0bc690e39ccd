#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/compare.py, with programs whose output the test controls: medians, comparisons, and refusals.
. ci/test_head.sh
if ! command -v python3 >/dev/null; then
    echo '1..0 # SKIP no python3, which compares the runs'
    exit 0
fi

# program BUILD NAME FILE...: a measurement whose runs keep the files of results in turn.
program() {
    local path=$work/$1/bin/bench-$2
    mkdir -p "$work/$1/bin"
    shift 2
    # shellcheck disable=SC2016 # for the program
    printf '#!/bin/sh\nset -- "$2" %s\nread -r run <"$0.run" || run=0\necho $((run + 1)) >"$0.run"\nto=$1\nshift $((run %% ($# - 1) + 1))\ncp "$1" "$to"\n' \
        "$*" >"$path"
    echo 0 >"$path.run"
    chmod +x "$path"
}

ratios() { # ratios FILE ROW...: "name value better"
    local file=$work/$1 row
    shift
    echo '# ratios of one run; see docs/bench.md' >"$file"
    for row; do
        # shellcheck disable=SC2086 # the words of the row
        printf '%s\t%s\t%s\n' $row >>"$file"
    done
}

compare() { # compare ARGUMENT...
    bench/compare.py --build "$work/build" "$@" >"$said" 2>&1
}

ratios a1 'rate 1.0 more' 'cost 2.0 less' 'noise 1.0 more'
ratios a2 'rate 1.2 more' 'cost 2.2 less' 'noise 3.0 more'
ratios a3 'rate 1.1 more' 'cost 2.1 less' 'noise 2.0 more'
ratios b1 'rate 2.2 more' 'cost 4.2 less' 'noise 2.0 more' 'fresh 1.0 more'
program old life "$work/a1" "$work/a2" "$work/a3"
program new life "$work/b1"
program new threads "$work/b1"
compare --rounds 3 "$work/old" "$work/new"
ok $? 'two builds are compared'
grep -qE '^  rate +1\.10 +2\.20 +2\.00  better$' "$said"
ok $? 'medians, and a rate that rose is better'
grep -qE '^  cost +2\.10 +4\.20 +2\.00  worse$' "$said"
ok $? 'a cost that rose is worse'
grep -qE '^  noise +2\.00 +2\.00 +1\.00$' "$said"
ok $? 'rounds that overlap show nothing'
result "$(grep -cE '^  (fresh|threads)' "$said" | grep -qx 0; echo $?)" 'what one of them lacks is left out' "$(cat "$said")"
program old mute /dev/null
program new mute /dev/null
printf '#!/bin/sh\nexit 2\n' >"$work/old/bin/bench-mute"
compare --only life --rounds 2 "$work/old" "$work/new"
result "$(grep -qE '(better|worse)$' "$said" && echo 1 || echo 0)" 'two rounds show nothing' "$(cat "$said")"
compare --only mute "$work/old" "$work/new"
ok $? 'a program without results is left out'
grep -q 'bench-mute keeps no results' "$said"
ok $? 'and named'
result "$(! compare "$work/old" no-such-commit && grep -q 'no-such-commit is neither a commit nor a build folder' "$said"; echo $?)" \
    'an unknown commit is refused' "$(cat "$said")"
result "$(! compare --only none "$work/old" "$work/new" && grep -q 'no measurement in common' "$said"; echo $?)" \
    'so are two without a measurement in common' "$(cat "$said")"
finish
