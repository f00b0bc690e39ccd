#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ci/client compares a script's run with its header: here with a fake Python, which the script controls.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/clients/13/venv/bin" "$work/lib"
cat >"$work/clients/13/venv/bin/python" <<'END'
#!/bin/sh
# python -c TEXT fails like a missing import; python -u SCRIPT runs it as a shell script.
[ "$1" = -c ] && exit 1
exec sh "$2"
END
chmod +x "$work/clients/13/venv/bin/python"
points=0

client() { # client TEXT...: the TAP of a script of these lines
    printf '%s\n' "$@" >"$work/script.py"
    ci/client "$work" "${cuda-13}" "$work/script.py" >"$work/out" 2>&1
}

point() { # point NAME: the status before it
    if [ $? = 0 ]; then verdict=ok; else verdict='not ok'; fi
    points=$((points + 1))
    echo "$verdict $points - $1"
    [ "$verdict" = ok ] || sed 's/^/# /' "$work/out"
}

bad() { # bad NUMBER: so many points failed, and the plan is right
    [ "$(grep -c '^not ok' "$work/out")" = "$1" ] && [ "1..$(grep -c '^\(not \)\?ok' "$work/out")" = "$(tail -n 1 "$work/out")" ]
}

client 'echo "ok - one"' 'echo "warning VMM-A: is not counted" >&2'
bad 0
point "all is well"
client 'echo "ok - one"' 'echo "not ok - two"'
bad 1
point "a point that fails"
client 'true'
bad 1
point "no point at all"
client 'echo "ok - one"' 'exit 3'
bad 1
point "a script that ends badly"
client 'echo "ok - one"' 'echo "error VMM-A: what" >&2'
bad 1
point "an error that is not expected"
client '# explain: 1 leak VMM-A' 'echo "ok - one"'
bad 1
point "a leak that does not come"
client '# explain: 1 leak VMM-B' '# explain: 2 error VMM-A' 'echo "ok - one"' 'for i in 1 2; do echo "error VMM-A: what" >&2; done' \
    'echo "leak VMM-B: what" >&2'
bad 0
point "what is expected comes"
client '# explain: 2 error VMM-A' 'echo "ok - one"' 'echo "error VMM-A: what" >&2'
bad 1
point "or not as often"
client 'echo "ok - one"' 'echo "cuvmm: libcuda.so.1: cuX is not simulated. It answers CUDA_ERROR_NOT_SUPPORTED" >&2'
bad 1
point "an entry point that is not there"
client '# package: nothing' 'echo "ok - one"'
grep -q '^1..0 # SKIP no package nothing' "$work/out"
point "without its package it is skipped"
unset CUVMM_NO_SUCH_SOURCE
client '# source: CUVMM_NO_SUCH_SOURCE a.cpp' 'echo "ok - one"'
grep -q '^1..0 # SKIP no source: set CUVMM_NO_SUCH_SOURCE' "$work/out"
point "and without its source"
echo "the reason" >"$work/clients/13/reason"
client 'echo "ok - one"'
grep -q '^1..0 # SKIP no clients from PyPI: the reason' "$work/out"
point "and where the clients could not be had, with the reason"
cuda=12
client 'echo "ok - one"'
grep -q '^1..0 # SKIP no clients from PyPI: make clients-python' "$work/out"
point "or they were not fetched"
echo "1..$points"
