#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuvmm view: what the command says and writes. The page itself is for view_browser_test.sh.
set -u
build=${CUVMM_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
case $build in /*) ;; *) build=$PWD/$build ;; esac
cuvmm=$build/bin/cuvmm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
point=0
failures=0

ok() { # STATUS NAME
    point=$((point + 1))
    if [ "$1" = 0 ]; then
        echo "ok $point - $2"
    else
        failures=$((failures + 1))
        echo "not ok $point - $2"
        head -n 3 out err 2>/dev/null | sed 's/^/# /'
    fi
}

view() { # ARGUMENTS: into out and err; the exit status in $status
    "$cuvmm" view "$@" >out 2>err
    status=$?
}

if [ "$("$cuvmm" replay /dev/null 2>&1 | grep -c jansson)" -gt 0 ]; then
    echo "1..0 # SKIP built without jansson"
    exit 0
fi

CUVMM_LAYERS=trace=view.jsonl "$cuvmm" run "$here/view.vmm" --quiet >out 2>err

view view.jsonl -o page.html
[ "$status" = 0 ] && grep -q "page.html: 27 calls, 12 objects, 3 refused, 1 warned of" out && [ ! -s err ]
ok $? "a page is written"
[ "$(tail -n 1 page.html)" = "</html>" ] && ! grep -qE "(src|href)=\"?(https?:|//)" page.html
ok $? "one file that refers to no other"
view view.jsonl -o - && cp out other.html
cmp -s page.html other.html
ok $? "the same on standard output, and each time"
"$cuvmm" view - -o fed.html <view.jsonl >out 2>err
[ -s fed.html ] && grep -q "standard input" fed.html
ok $? "a trace from standard input"
[ "$(find . -type f | wc -l)" = 6 ]
ok $? "nothing is left beside it"

sed '/"n":12,/s#}$#,"note":"</script><script>harmed=1</script>"}#' view.jsonl >evil.jsonl
view evil.jsonl -o evil.html
[ "$status" = 0 ] && ! grep -q "<script>harmed" evil.html &&
    [ "$(grep -c "</script>" evil.html)" = "$(grep -c "</script>" page.html)" ]
ok $? "no markup of a trace gets into the page's own"

head -c 1500 view.jsonl >cut.jsonl
view cut.jsonl -o cut.html
[ "$status" = 0 ] && grep -q "an incomplete line" err && grep -q "the page shows the" err && [ -s cut.html ]
ok $? "half a trace gives half a page"
echo precious >kept.html
echo nonsense >bad.jsonl
view bad.jsonl -o kept.html
[ "$status" = 2 ] && grep -q "bad.jsonl:1:.*not JSON" err && [ "$(cat kept.html)" = precious ]
ok $? "what is no trace leaves a page as it was"
view absent.jsonl -o kept.html
[ "$status" = 2 ] && grep -q "absent.jsonl: No such file" err && [ "$(cat kept.html)" = precious ]
ok $? "nor does a trace that is not there"
view view.jsonl -o no/such/folder.html
[ "$status" = 2 ] && grep -q "no/such/folder.html: No such file" err
ok $? "a folder that is not there"
mkdir folder
view view.jsonl -o folder
[ "$status" = 2 ] && grep -q "folder: .* is not replaced" err && [ -z "$(find . -name "folder.*")" ]
ok $? "a folder in the place of a page"
mkfifo pipe
view view.jsonl -o pipe
[ "$status" = 2 ] && [ -p pipe ] && grep -q "pipe: .* is not replaced" err
ok $? "a pipe or a device is not replaced"
if [ -w /dev/full ]; then
    "$cuvmm" view view.jsonl -o - >/dev/full 2>err
    status=$?
    [ "$status" = 2 ] && grep -q "standard output: No space left on device" err
    ok $? "a full disk is reported"
    "$cuvmm" help >/dev/full 2>err
    status=$?
    [ "$status" = 2 ] && grep -q "cuvmm: standard output: No space left on device" err
    ok $? "by every command"
fi
view view.jsonl
[ "$status" = 2 ] && grep -q "where to" err
ok $? "no place for the page"
view -o page.html
[ "$status" = 2 ] && grep -q "which trace" err
ok $? "no trace"
cp page.html before.html
view view.jsonl evil.jsonl -o page.html
[ "$status" = 2 ] && grep -q "does not name its process" err && cmp -s page.html before.html
ok $? "two traces that name no process"
view view.jsonl -o
[ "$status" = 2 ] && grep -qe "-o needs a PAGE" err
ok $? "no name after -o"
view --frobnicate
[ "$status" = 2 ] && grep -q "unknown option" err
ok $? "an option that is none"
echo "1..$point"
[ "$failures" = 0 ]
