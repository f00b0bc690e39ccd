#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recorded_test.sh: what ci/recorded lets pass and what it does not. TAP.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. ci/tap.sh

# compares EXCEPTIONS OURS RECORDED...: each a text with | for a new line and ; for a tab. What is printed is in $printed.
compares() {
    local number=0 text files=()
    for text in "$@"; do
        number=$((number + 1))
        printf '%s\n' "$text" | tr '|;' '\n\t' >"$work/$number"
        files+=("$work/$number")
    done
    printed=$(ci/recorded h100-copies "${files[@]}")
}

passes() { # passes WHAT...: what compares is given
    compares "${@:2}"
    ok $? "$1"
}

fails() { # fails WHAT LINE...: LINE is among what is printed
    if compares "${@:3}" || ! printf '%s\n' "$printed" | grep -qF -- "$2"; then
        printf '%s\n' "$printed" | sed 's/^/# /'
        ok 1 "$1"
    else
        ok 0 "$1"
    fi
}

same='a.1;SUCCESS|a.2;SUCCESS 3'
passes 'answers that are equal' '' "$same" "$same"
fails 'an answer that differs' '# a.2: recorded SUCCESS 4, here SUCCESS 3' '' "$same" 'a.1;SUCCESS|a.2;SUCCESS 4'
fails 'one that is missing here' '# a.3: recorded SUCCESS, here nothing' '' "$same" "$same|a.3;SUCCESS"
fails 'one that was not recorded' '# a.2: recorded nothing, here SUCCESS 3' '' "$same" 'a.1;SUCCESS'
fails 'nothing at all' 'not ok 1' '' '# none' '# none'
passes 'a later file says what is different there' '' "$same" 'a.1;SUCCESS|a.2;SUCCESS 4' 'a.2;SUCCESS 3'

differ='a.1;SUCCESS|a.2;SUCCESS 4'
passes 'a difference that has a reason' '*-copies;a.2;so it is' "$same" "$differ"
fails 'a reason for another recording' '# a.2: recorded' '*-edges;a.2;so it is' "$same" "$differ"
fails 'an exception that nothing needs' '# nothing needs the exception for a.2' '*-copies;a.2;so it is' "$same" "$same"
fails 'an exception that an equal answer falls under' '# the exception for a.* is too wide: a.1 is as recorded' '*-copies;a.*;so it is' \
    "$same" "$differ"
passes 'what varies may be equal' 'h100-copies;a.?;varies: by chance' "$same" "$same"

# The choices of { }, whose separator is the one of lines above.
printf 'h100-copies\ta.{2|3+}.x\tso it is\n' >"$work/chosen"
printf 'a.2.x\t1\na.3+.x\t1\na.4.x\t1\n' >"$work/ours"
printf 'a.2.x\t2\na.3+.x\t2\na.4.x\t1\n' >"$work/there"
ci/recorded h100-copies "$work/chosen" "$work/ours" "$work/there" >"$work/said"
ok $? 'an exception names some of several'
printf 'a.2.x\t2\na.33.x\t2\na.4.x\t1\n' >"$work/there"
printf 'a.2.x\t1\na.33.x\t1\na.4.x\t1\n' >"$work/ours"
! ci/recorded h100-copies "$work/chosen" "$work/ours" "$work/there" >"$work/said" && grep -q '^# a.33.x: recorded 2, here 1' "$work/said"
ok $? 'and no others'

passes 'where the driver crashed a refusal is as good' '' 'a.1;SUCCESS|c.1;INVALID_VALUE' 'a.1;SUCCESS|c.1!;SIGNAL 11'
fails 'and nothing else is' '# c.1!: recorded SIGNAL 11, here SUCCESS' '' 'a.1;SUCCESS|c.1;SUCCESS' 'a.1;SUCCESS|c.1!;SIGNAL 11'
fails 'nor a crash where the driver refused' '# c.1: recorded INVALID_VALUE, here SIGNAL 11' '' 'a.1;SUCCESS|c.1!;SIGNAL 11' \
    'a.1;SUCCESS|c.1;INVALID_VALUE'
echo "1..$points"
[ "$failures" = 0 ]
