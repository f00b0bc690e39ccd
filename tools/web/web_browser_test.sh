#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of `make web` in a headless Chromium (tools/web/check.py). Skipped if the page was not built (no compiler
# for WebAssembly: ci/web-compiler), or without a browser or python3-selenium.
set -u
build=${CUVMM_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "${CUVMM_RUN-}${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP a browser tells no more of an instrumented build"
    exit 0
fi
if [ ! -e "$build/web/index.html" ]; then
    echo "1..0 # SKIP no WebAssembly module: $(ci/web-compiler)"
    exit 0
fi
# The Python that Debian's packages are for comes first.
for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -c 'import selenium' 2>/dev/null && break
done
if ! command -v "$python" >/dev/null; then
    echo "1..0 # SKIP no Python 3"
    exit 0
fi

printf 'base = h100\ndevices = 3\npeers = all\n' >"$work/mine.profile"
printf 'init\nc = context dev0\nr = reserve 2gran\n# <img src=x onerror=harmed=1>\nnote <img src=x onerror=harmed=1>\n' >"$work/dropped.vmm"
printf 'init\nr = reserve 1gran\nh = create 1gran dev0\nmap r 1gran h\nmap r 1gran h\n' |
    CUVMM_LAYERS=trace=$work/t.vtrace "$build/bin/cuvmm" run - --quiet >/dev/null 2>&1
"$python" "$here/check.py" "$build/web/index.html" "$work" 2>"$work/err"
status=$?
[ "$status" -gt 1 ] && sed 's/^/# /' "$work/err"
exit "$status"
