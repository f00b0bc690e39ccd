#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TAP becomes JUnit with the same verdicts: passed, failed, skipped, and programs that ended badly.
set -u
if ! command -v tap2junit >/dev/null; then
    echo "1..0 # SKIP needs tap2junit (ci/setup --all)"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
points=0 failures=0

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok $points - $2"; else
        failures=$((failures + 1))
        echo "not ok $points - $2"
        cat "$work"/said "$work"/out/*.xml 2>/dev/null | head -n 40 | sed 's/^/#   /'
    fi
}

mkdir -p "$work/gcc/tap" "$work/empty"
printf 'ok 1 - good\nnot ok 2 - bad "one" <&>\n# why\nok 3 - left out "<x>" # SKIP no <driver> & so\n1..3\n# exit status 1\n' >"$work/gcc/tap/mixed.tap"
printf 'ok 1 - good\n1..1\n# exit status 0\n' >"$work/gcc/tap/good.tap"
printf 'ok 1 - good\n1..1\n# exit status 139\n' >"$work/gcc/tap/crashed.tap"
printf '1..0 # SKIP no network\n# exit status 0\n' >"$work/gcc/tap/whole.tap"
ci/junit "$work/out" "$work/gcc/tap" >"$work/said" 2>&1
point $? 'it converts'
[ "$(find "$work/out" -name '*.xml' | wc -l)" = 4 ]
point $? 'a file for each program'
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom
for name in sys.argv[1:]: xml.dom.minidom.parse(name)' "$work"/out/*.xml >"$work/said" 2>&1
    point $? 'each of them is XML'
fi
grep -q 'tests="3"' "$work/out/gcc-tap-mixed.xml" && grep -q 'failures="1"' "$work/out/gcc-tap-mixed.xml"
point $? 'failed points are failed'
grep -q '<skipped message="no &lt;driver> &amp; so"/>' "$work/out/gcc-tap-mixed.xml" &&
    [ "$(grep -c '<skipped' "$work/out/gcc-tap-mixed.xml")" = 1 ]
point $? 'a skipped one is skipped, with its reason'
grep -q 'errors="0"' "$work/out/gcc-tap-good.xml" && grep -q 'failures="0"' "$work/out/gcc-tap-good.xml"
point $? 'what went well, went well'
grep -q 'failures="1"' "$work/out/gcc-tap-crashed.xml" && grep -q 'exit status 139' "$work/out/gcc-tap-crashed.xml"
point $? 'a program that ended badly with all points good has failed'
ci/junit "$work/out" "$work/empty" >"$work/said" 2>&1
[ $? = 1 ] && grep -q 'make check first' "$work/said"
point $? 'a folder without TAP is an error'
echo "1..$points"
[ "$failures" -eq 0 ]
