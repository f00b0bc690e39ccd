#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/spdx names sources without a licence, writes the line where it belongs, and leaves data alone.
set -u
command -v git >/dev/null || { echo "1..0 # SKIP needs git"; exit 0; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
points=0
failed=0

point() { # point NAME COMMAND...
    local name=$1
    shift
    points=$((points + 1))
    if "$@" >/dev/null 2>&1; then
        echo "ok $points - $name"
    else
        failed=1
        echo "not ok $points - $name"
    fi
}

# shellcheck disable=SC2317 # point calls it
fails() { ! "$@"; }
line='SPDX-License-Identifier: Apache-2.0'

cd "$work" || exit 1
git init -q .
printf 'int x;\n' >x.c
printf '#!/bin/sh\necho\n' >run
printf '<!doctype html>\n<p>\n' >page.html
printf 'all:\n' >Makefile
printf 'backend sim:h100\n' >a.vmm
: >empty.h
git add .
"$here/spdx" "$work" >said
point "four sources say nothing" [ "$(wc -l <said)" = 4 ]
point "which is a failure" fails "$here/spdx" "$work"
point "each is named" grep -q '^run does not say its licence' said
"$here/spdx" --add "$work"
point "then the line is there" "$here/spdx" "$work"
point "first in C" [ "$(head -n 1 x.c)" = "/* $line */" ]
point "behind what says how a script is run" [ "$(sed -n 2p run)" = "# $line" ]
point "behind the kind of a page" [ "$(sed -n 2p page.html)" = "<!-- $line -->" ]
point "first in a Makefile" [ "$(head -n 1 Makefile)" = "# $line" ]
point "the rest is as it was" [ "$(sed 1d x.c)" = "int x;" ]
point "data is left alone" [ "$(cat a.vmm)" = "backend sim:h100" ]
point "so is a script's way to be run" [ ! -x x.c ]
echo "1..$points"
exit $failed
