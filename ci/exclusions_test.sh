#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each exclusion from coverage has its reason on its own line: LCOV_EXCL_LINE: the reason. Each start has an end.
. ci/tap.sh
shopt -s nullglob globstar
folder=$(mktemp -d "${TMPDIR:-/tmp}/exclusions_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
said=$folder/said

# unreasoned FILE...: the invalid marks, one per line; fails if there are any.
unreasoned() {
    awk '
    function wrong(why) { printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0; bad = 1 }
    function ended() { if (inside) printf "%s: a START without its STOP\n", last; bad += inside; inside = 0; last = FILENAME }
    FNR == 1 { ended() }
    !/LCOV_EXCL/ { next }
    /LCOV_EXCL_(BR_)?STOP/ { if (!inside) wrong("a STOP without its START"); inside = 0; next }
    !/LCOV_EXCL_((BR_)?(LINE|START)): *[[:alnum:]]+ +[[:alnum:]]/ { wrong("no reason") }
    /LCOV_EXCL_(BR_)?START/ { if (inside) wrong("a START inside another"); inside = 1 }
    END { ended(); exit bad > 0 }' "$@"
}

# sample NAME STATUS TEXT...: the verdict on a file of these lines.
sample() {
    local name=$1 want=$2
    shift 2
    printf '%s\n' "$@" >"$folder/sample.c"
    unreasoned "$folder/sample.c" >"$said"
    [ $? -eq "$want" ]
    ok $? "$name"
}

unreasoned {api,backend_sim}/**/*.[ch] >"$said"
ok $? "every exclusion from coverage has its reason"
sample "no mark" 0 'int a;'
sample "a reason" 0 'a(); /* LCOV_EXCL_LINE: cannot be reached */' 'b(); /* LCOV_EXCL_BR_LINE: no other number */'
sample "none" 1 'a(); /* LCOV_EXCL_LINE */'
sample "a colon alone" 1 'a(); /* LCOV_EXCL_BR_LINE: */'
sample "an unknown mark" 1 'a(); /* LCOV_EXCL_ALL: cannot be reached */'
sample "a range with a reason" 0 '/* LCOV_EXCL_START: for other systems */' 'a();' '/* LCOV_EXCL_STOP */'
sample "a range without" 1 '/* LCOV_EXCL_BR_START */' 'a();' '/* LCOV_EXCL_BR_STOP */'
sample "a range without an end" 1 '/* LCOV_EXCL_START: for other systems */' 'a();'
sample "an end without a range" 1 'a();' '/* LCOV_EXCL_STOP */'
sample "a range inside another" 1 '/* LCOV_EXCL_START: for others */' '/* LCOV_EXCL_START: for others */' '/* LCOV_EXCL_STOP */'
echo "1..$points"
exit "$((failures > 0))"
