#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of cuvmm view in a headless Chromium (tools/view/check.py). Skipped where there is none, or no python3-selenium.
set -u
build=${CUVMM_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
cuvmm=$build/bin/cuvmm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "${CUVMM_RUN-}${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP a browser tells no more of an instrumented build"
    exit 0
fi
if "$cuvmm" replay /dev/null 2>&1 | grep -q jansson; then
    echo "1..0 # SKIP built without jansson"
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

CUVMM_LAYERS=trace=$work/view.jsonl "$cuvmm" run "$here/view.vmm" --quiet >/dev/null 2>&1
sed '/"n":12,/s#}$#,"note":"</script><img src=x onerror=harmed=1><!--<script>"}#' "$work/view.jsonl" >"$work/<b>&lt;.jsonl"
head -c 1500 "$work/view.jsonl" >"$work/cut.jsonl"
printf '{"cuvmm-trace":1,"version":"0.1.0","inner":["sim"]}\n{"end":1,"calls":0}\n' >"$work/empty.jsonl"
# As a driver would have recorded it: results alone.
sed 's/"inner":\["sim"\]/"inner":["cuda"]/; s/,"severity":.*}$/}/' "$work/view.jsonl" >"$work/driver.jsonl"
pages=()
printf '%s\n' init 'r = reserve 1TiB' 's = reserve 8MiB' 'h = create 4MiB dev0' 'map r+64MiB 4MiB h' 'map r+512GiB 4MiB h' 'map s 4MiB h' |
    CUVMM_LAYERS=trace=$work/folded.jsonl "$cuvmm" run - --quiet >/dev/null 2>&1
for trace in view '<b>&lt;' cut empty driver folded; do
    "$cuvmm" view "$work/$trace.jsonl" -o "$work/$trace.html" >/dev/null 2>&1
    pages+=("$work/$trace.html")
done
"$python" "$here/check.py" "${pages[@]}" 2>"$work/err"
status=$?
[ "$status" -gt 1 ] && sed 's/^/# /' "$work/err"
exit "$status"
