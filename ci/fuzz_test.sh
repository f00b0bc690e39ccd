#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The files around the fuzz targets: each target has a corpus and a row in the documentation, the corpora stay small,
# dictionaries contain the words of the tables, and `make fuzz` reports missing tools. check/fuzz-TARGET runs the
# corpora themselves.
set -u
build=${CUVMM_BUILD-build}
folder=$(mktemp -d "${TMPDIR:-/tmp}/fuzz_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
points=0
failures=0

# point NAME: the previous command succeeded.
point() {
    local status=$?
    points=$((points + 1))
    if [ "$status" -eq 0 ]; then
        echo "ok $points - $1"
    else
        failures=$((failures + 1))
        echo "not ok $points - $1"
    fi
}

mapfile -t targets < <(for file in fuzz/*_fuzz.c; do basename "$file" _fuzz.c; done)

for target in "${targets[@]}"; do
    test -n "$(find "fuzz/corpus/$target" -type f -print -quit 2>/dev/null)"
    point "$target has a corpus"
    grep -q "^| \`$target\` |" docs/fuzzing.md
    point "$target is documented"
done
for corpus in fuzz/corpus/*; do
    test -f "fuzz/$(basename "$corpus")_fuzz.c"
    point "$corpus is of a target"
done
inputs=$(find fuzz/corpus -type f | wc -l)
bytes=$(find fuzz/corpus -type f -exec cat {} + | wc -c)
test "$inputs" -lt 200 && test "$bytes" -lt 300000
point "the corpora stay small: $inputs inputs, $bytes bytes"

# words TARGET WORD...: its dictionary has them, each in quotes.
words() {
    local target=$1 word
    shift
    "$build/fuzz/words" "$target" >"$folder/words" || return 1
    for word in "$@"; do
        grep -qxF "\"$word\"" "$folder/words" || { echo "# no \"$word\""; return 1; }
    done
}

words script reserve multicast "check bytes" VMM-MAP-OVERLAP NOT_PERMITTED cuMemMap
point 'scripts have commands, checks, rules, results and calls'
words trace mem_map byte_count fnv1a64
point 'traces have calls and parameters'
words profile granularity.device.minimum va.taken gb200x4
point 'profiles have keys and machines'
words spec sim: odd mem_create OUT_OF_MEMORY
point 'specs have machines, calls and results'
test -z "$("$build/fuzz/words" api)"
point 'inputs that are no text have none'

# says TEXT ARGUMENT...: `make fuzz` with these fails with that text.
says() {
    local text=$1
    shift
    ! "${MAKE-make}" -s BUILD="$folder/build" fuzz "$@" >"$folder/said" 2>&1 && grep -qF -e "$text" "$folder/said"
}
says "name one of: ${targets[0]}" TARGET=nothing
point 'a target that is not there: those that are'
says 'is not a target' TARGET=
point 'no target'
says 'libclang-rt' TARGET=script FUZZ_CC=false
point 'no libFuzzer: what to install'
test ! -e "$folder/build"
point 'nothing was built'

weekly=$(sed -n 's/^ *target: \[\(.*\)\]$/\1/p' .github/workflows/fuzz.yml | tr -d ,)
[ -n "$weekly" ] && [ "$weekly" = "$(printf '%s\n' "${targets[@]}" | sort | xargs)" ]
point 'the weekly search knows every target'

echo "1..$points"
exit $((failures > 0))
