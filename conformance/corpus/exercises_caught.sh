#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exercises_caught.sh FOLDER SOURCE FILE KEY=TEXT...: SOURCE is FILE, a solution, with a mistake in it. Does its
# grader catch it: does the point named by KEY=TEXT fail, and do its notes name the rule? Prints one TAP point, which
# fails if the grader catches it: a test of the mistake, for ci/mutate. FOLDER keeps the graders from one start to the
# next.
on=sim:h100 point='' rule='' says=''
for told in "${@:4}"; do
    case $told in
        on=*) on=${told#*=} ;;
        point=*) point=${told#*=} ;;
        rule=*) rule=${told#*=} ;;
        says=*) says=${told#*=} ;;
    esac
done
CUVMM_EXERCISES_WORK=$1
# shellcheck source=conformance/corpus/exercises_rig.sh
. conformance/corpus/exercises_rig.sh >"$1/rig"

# Programs that never end get little time.
patience=60
[ "$rule" != EX-HANG ] || patience=3
program=$1/program
said=$(compile "$(basename "$3" .c)" "$2" "$program" -Wno-error -Wno-unused &&
    CUVMM_EXERCISE_PATIENCE=$patience grade "$program" --part="${point%%: *}" "$on")
status=$?

# The point failed, and its notes name the rule.
named() {
    awk -v point="$point" -v rule="$rule" '
        /^(not )?ok [0-9]+ - / { failed = /^not/; sub(/^(not )?ok [0-9]+ - [^ ]+ /, ""); within = failed && $0 == point; next }
        within && index($0, "#   rule      " rule ":") == 1 { found = 1 }
        END { exit !found }' <<<"$said"
}
if [ "$status" -eq 1 ] && [ -n "$rule" ] && named && grep -qF -- "$says" <<<"$said"; then
    echo "not ok 1 - caught as $rule: $point"
else
    echo "ok 1 - not caught as $rule: $point"
    echo "# the grader ended with $status"
    printf '# %s\n' "${said//$'\n'/$'\n'# }"
fi
echo "1..1"
