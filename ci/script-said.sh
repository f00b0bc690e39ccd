#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# script-said.sh - what ci/client and ci/framework say of a Python script that they ran, to be sourced: . ci/script-said.sh
#
#   head_of WHAT             the lines "# WHAT: ..." of the script's head, without that
#   point GOOD? NAME         a point behind the script's own; 0 is good
#   as_expected RUN          the point that the library said of it what the head expects and nothing else: errors and leaks, counted by rule,
#                            by the lines "# explain: COUNT KIND RULE" and, of a named run, "# explain RUN: ..."; any in place of COUNT takes all
#   if_bad                   where a point is bad, or the script did not end with 0: its status, what was expected, the end of what it wrote
#
# The caller sets script, work (a folder with the script's output in out and err), status and points (the script's own).
point() {
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; fi
}

head_of() { sed -n "s/^# $1: //p" "$script"; }

as_expected() {
    grep -oE '^(error|leak):? [A-Za-z-]+' "$work/err" | sort | uniq -c | sed 's/^ *//' >"$work/said" || true
    { head_of explain; head_of "explain $1"; } | sort -k 2 >"$work/heads"
    grep -v '^any ' "$work/heads" >"$work/expected" || true
    while read -r _ any; do
        sed -i "/^[0-9]* $any\$/d" "$work/said"
    done < <(grep '^any ' "$work/heads")
    cmp -s "$work/said" "$work/expected" && good=0 || good=1
    point "$good" "the library says of it what is expected, and nothing else"
}

if_bad() {
    if grep -q '^not ok' "$work/out" || [ "$status" != 0 ] || ! cmp -s "$work/said" "$work/expected"; then
        echo "# its status is $status"
        diff "$work/expected" "$work/said" | sed 's/^/# /' || true
        tail -n 60 "$work/err" | sed 's/^/# /'
    fi
}
