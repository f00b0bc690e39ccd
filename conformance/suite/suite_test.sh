#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The suite's program: what it cannot be asked, it refuses with the fix, and before any test. From make check: CUVMM_BUILD.
set -u
. ci/tap.sh
suite=${CUVMM_BUILD-build}/bin/conformance
unset CUVMM_BACKEND CUVMM_LAYERS
said=

# refuses NAME WORDS ARGUMENT...: status 2, the words, and no test
refuses() {
    local name=$1 words=$2 status
    shift 2
    said=$("$suite" "$@" 2>&1)
    status=$?
    [ "$status" -eq 2 ] && [[ $said == *"$words"* ]] && [[ $said != *$'\n'ok* ]] && [[ $said != ok* ]]
    result $? "$name" "status $status: $said"
}

# asks NAME ARGUMENT...: tests are made, and none fails
asks() {
    local name=$1 status
    shift
    said=$("$suite" "$@" 2>&1)
    status=$?
    [ "$status" -eq 0 ] && grep -q '^ok ' <<<"$said"
    result $? "$name" "status $status: $(grep -v '^ok ' <<<"$said")"
}

refuses 'an option that there is not' 'cannot use "--fast"' --fast
refuses 'an option without its value' 'cannot use "--backend"' --backend
refuses 'a machine in strict mode' 'leave out "strict"' --backend sim:h100,strict
refuses 'with other options, too' 'leave out "strict"' --backend 'trace=/dev/null | sim:odd,schedule=eager,strict'
refuses 'a shadow' 'add --as-driver' --backend 'trace=/dev/null | shadow=nodes=1 | sim:h100'
export CUVMM_BACKEND='shadow|sim:h100'
refuses 'one in the environment, too' 'add --as-driver'
unset CUVMM_BACKEND
asks 'one test in strict mode' --backend sim:h100,strict --run unmap_over_holes
asks 'one under a shadow' --backend 'shadow|sim:h100' --run free_the_reservation
asks 'and what one machine is asked as a driver, in strict mode' --as-driver --backend 'trace=/dev/null|sim:h100,strict' --run free_the_reservation
asks 'what a refusal says' --run access_over_a_hole --notes conformance/suite/notes.tsv
notes=$(mktemp) || exit 1
trap 'rm -f "$notes"' EXIT
"$suite" --run access_over_a_hole --write-notes "$notes" >/dev/null && grep -c . "$notes" >/dev/null && grep -qxFf "$notes" conformance/suite/notes.tsv
result $? 'and it can be written anew' "$(cat "$notes")"
# differs ROW: the suite finds that a refusal does not say this
differs() {
    printf 'access_over_a_hole\t%s\n' "$@" >"$notes"
    said=$("$suite" --run access_over_a_hole --notes "$notes")
    [ $? -eq 1 ] && [[ $said == *'not ok 1 - breaks VMM-ACCESS-HOLE: access_over_a_hole (observed)'* ]]
}
row=$(cut -f2- "$notes")
differs "${row/nothing/something}" && [[ $said == *'now it says'*'nothing is mapped at #'* ]]
result $? 'another note is found' "$said"
differs "$row" 'VMM-ACCESS-HOLE' && [[ $said == *'it no longer says'* ]]
result $? 'and one that is missing' "$said"
refuses 'notes that are not there' 'cannot use "--notes"' --notes "$notes/none"
listed=$("$suite" --list | wc -l)
[ "$listed" -gt 800 ]
result $? 'the tests are listed' "$listed"
echo "1..$points"
[ "$failures" -eq 0 ]
