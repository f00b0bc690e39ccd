#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs of conformance/programs/checker under `cuvmm check`, on the simulator: each mistake is found with its
# rule and lines, and nothing is reported without it; and random work, whose reports are compared with a model. Each
# runs under one of the schedules; `make check-ci` runs them under all (ci/checker_schedules_test.sh). The programs
# about order also run with the simulator's library in place of a driver. Then the judge itself: with the two forms
# exchanged it must fail each point.
. ci/test_head.sh
own_system
without_sanitizer
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3, which reads the reports"
    exit 0
fi
work=$(mktemp -d "${TMPDIR:-.}/checker_programs_test.XXXXXX")

# What was compiled stays for the next run, until a source or the compiler is another.
export CHECKER_FOLDER
CHECKER_FOLDER=$(cd "$build" && pwd)/test/checker-programs
if [ "$(cat "$CHECKER_FOLDER/compiler" 2>/dev/null)" != "${CC-cc}" ] || [ ! -e "$CHECKER_FOLDER/kernels.so" ] ||
    [ -n "$(find conformance/programs/checker api/abi api/vmm_kernel.h ci/checker-programs -newer "$CHECKER_FOLDER/kernels.so" -print -quit)" ]; then
    rm -rf "$CHECKER_FOLDER"
    mkdir -p "$CHECKER_FOLDER"
    echo "${CC-cc}" >"$CHECKER_FOLDER/compiler"
fi
# shellcheck disable=SC2086 # several words
ci/checker-programs "$build" ${CHECKER_RUNS---rotate} >"$work/tap" 2>"$work/err"
grep -v '^1\.\.' "$work/tap" | sed 's/^ok [0-9]* /OK /; s/^not ok [0-9]* /NOT OK /' >"$work/lines"
while IFS= read -r line; do
    case $line in
    "OK "*) points=$((points + 1)); echo "ok $points ${line#OK }" ;;
    "NOT OK "*"# TODO"*) points=$((points + 1)); echo "not ok $points ${line#NOT OK }" ;;
    "NOT OK "*) points=$((points + 1)); failures=$((failures + 1)); echo "not ok $points ${line#NOT OK }" ;;
    *) echo "$line" ;;
    esac
done <"$work/lines"
[ "$points" -ge 120 ]
ok $? "there are at least 60 pairs" "$work/err"

seeds=${CHECKER_SEEDS-$((40 * ${CUVMM_TEST_SCALE:-100} / 100))}
[ "$seeds" -gt 0 ] || seeds=1
ci/checker-random "$build" --seeds "$seeds" >"$work/tap" 2>"$work/err"
ok $? "on random work the reports are those of a plain model of order" "$work/tap"

ci/checker-programs "$build" --backend stand-in --schedules eager --group order correct >"$work/tap" 2>"$work/err" &&
    [ "$(grep -c '^ok .* finds ' "$work/tap")" -ge 7 ] && [ "$(grep -c '^ok .*, silent' "$work/tap")" -ge 33 ]
ok $? "beside a driver the mistakes of copies and fills are found, and no others" "$work/tap"

ci/checker-random "$build" --backend stand-in --seeds "$seeds" >"$work/tap" 2>"$work/err"
ok $? "and on random work the reports are those of the model" "$work/tap"

ci/checker-programs "$build" --schedules eager --swap --only cursor_not_advanced used_after_the_free >"$work/tap" 2>"$work/err"
[ $? = 1 ] && [ "$(grep -c '^not ok' "$work/tap")" = 4 ]
ok $? "forms that are exchanged fail each point" "$work/tap"
finish
