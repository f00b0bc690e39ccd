#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuvmm view --serve: the page of a trace that is larger than what it holds at a time (tools/view/check_serve.py). And --calls, which
# puts a part of one into a file.
. ci/test_head.sh
here=$(cd "$(dirname "$0")" && pwd)
cuvmm=$build/bin/cuvmm
unset CUVMM_BACKEND CUVMM_LAYERS
if [ -n "${CUVMM_RUN-}${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP a browser tells no more of an instrumented build"
    exit 0
fi
for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -c 'import selenium' 2>/dev/null && break
done
if ! command -v "$python" >/dev/null; then
    echo "1..0 # SKIP no Python 3"
    exit 0
fi

# 4000 lives of memory; every thousandth is asked for without a size first.
trace=$work/long.vtrace
{
    printf 'init\nc = context dev0\nr = reserve 1gran\n'
    for ((i = 1; i <= 4000; i++)); do
        [ $((i % 1000)) = 500 ] && echo 'expect INVALID_VALUE: z = create 0 dev0'
        printf 'h%d = create 1gran dev0\nmap r 1gran h%d\nrelease h%d\nunmap r 1gran\n' $i $i $i
    done
} >"$work/long.vmm"
CUVMM_LAYERS=trace=$trace "$cuvmm" run "$work/long.vmm" --quiet --brief >"$work/said" 2>&1
calls=$("$cuvmm" export "$trace" --format=lines | grep -c '"n":')
[ "$calls" -gt 16000 ]
ok $? "a trace of $calls calls" "$work/said"

view() { # STATUS ARGUMENTS
    local want=$1
    shift
    "$cuvmm" view "$@" >"$work/out" 2>"$work/said"
    [ $? = "$want" ]
}
says() { grep -qF -- "$1" "$work/said"; }
view 0 "$trace" --calls=9000-9100 -o "$work/part.html" && grep -q '"first":8999' "$work/part.html" &&
    [ "$(wc -c <"$work/part.html")" -lt 300000 ]
ok $? "a part of it in a page" "$work/said"
for wrong in 0-5 5-3 x 5 5- 5-x 1-99999999999; do
    view 2 "$trace" --calls=$wrong -o "$work/none.html" && says "expected the first and the last call" && [ ! -e "$work/none.html" ]
    ok $? "--calls=$wrong is refused" "$work/said"
done
view 2 "$trace" --calls=900000-900001 -o "$work/none.html" && says "it has $calls calls" && [ ! -e "$work/none.html" ]
ok $? "calls behind the end are refused" "$work/said"
view 2 "$trace" --calls=1-5 --serve && says "--calls is for a page in a file"
ok $? "--calls with --serve is refused" "$work/said"
view 2 "$trace" -o "$work/none.html" --port=80 && says "--port is for a page that is served"
ok $? "--port without it, too" "$work/said"
view 2 "$trace" --serve --port=70000 && says "--port"
ok $? "and a port that is none" "$work/said"
view 2 "$trace" --serve -o "$work/none.html"
ok $? "a page is written or served" "$work/said"

"$python" "$here/check_serve.py" "$cuvmm" "$trace" "$calls" >"$work/points" 2>"$work/said"
status=$?
grep -v '^1\.\.' "$work/points" | sed "s/^\(not \)\?ok [0-9]* - /#   \1ok: /"
[ "$status" = 0 ]
ok $? "the served page" "$work/said"
finish
