#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/analyze: a finding fails its point, a suppressed one does not, and a file that does not compile counts as not analysed.
. ci/test_head.sh
if ! gcc -fanalyzer -x c -c -o /dev/null /dev/null 2>/dev/null; then
    echo "1..0 # SKIP no gcc with -fanalyzer"
    exit 0
fi

analyzed() { # analyzed STATUS TEXT: gcc looks at the file, ends so, and TEXT stands in the report
    ci/analyze --tool gcc "$work/it.c" >"$work/said" 2>&1
    [ $? = "$1" ] && grep -qF -- "$2" "$work/said"
}

written() { # written LINE: a function that forgets what it asked for, with LINE before its end
    printf '%s\n' '#include <stdlib.h>' 'int it(void);' 'int it(void)' '{' '    char *p = malloc(7);' '    int had = p != NULL;' \
        "$1" '    return had;' '}' >"$work/it.c"
}

written ''
analyzed 1 "/it.c:8: malloc-leak: leak of"
ok $? 'a finding is reported with its place and its name'
written '    /* analysers: malloc-leak is wrong: it only looks so */'
analyzed 0 'ok 1 - gcc has nothing to say of 1 files'
ok $? 'one that is answered at its place is none'
written '    /* analysers: null-dereference is wrong: it only looks so */'
analyzed 1 'malloc-leak'
ok $? 'the answer is to that finding and no other'
written '    /* analysers: malloc-leak is wrong: it only looks so */ return nothing;'
analyzed 1 'gcc failed:'
ok $? 'a file that does not compile has not been looked at'
! ci/analyze --tool nothing "$work/it.c" >"$work/said" 2>&1 && grep -qF 'no tool "nothing"; there are: gcc, cppcheck, clang-tidy' "$work/said"
ok $? 'a tool that does not exist is reported'

if command -v git >/dev/null; then
    # A tree of two files, one of which includes what changes.
    tree=$work/tree
    mkdir -p "$tree/api" "$tree/ci" "$tree/conformance/recorded/facts" && cp ci/analyze ci/rooms ci/rooms.awk "$tree/ci"
    echo '#include "b.h"' >"$tree/api/a.h" && echo 'int b(void);' >"$tree/api/b.h"
    printf '#include "a.h"\nint b(void) { return 1; }\n' >"$tree/api/a.c"
    printf 'int c(void);\nint c(void) { return 1; }\n' | tee "$tree/api/c.c" >"$tree/conformance/recorded/facts/d.c"
    echo '#include "b.h"' >>"$tree/conformance/recorded/facts/d.c"
    (cd "$tree" && git init -q && git add . && git -c user.name=t -c user.email=t@t commit -qm t) >"$said" 2>&1
    since() { # since TEXT ARGUMENT...: what is looked at of the tree since its commit
        local text=$1
        shift
        (cd "$tree" && ci/analyze --tool gcc --since HEAD "$@") >"$said" 2>&1 && grep -qF -- "$text" "$said"
    }
    echo 'int also(void);' >>"$tree/api/b.h"
    since 'SKIP no file to look at'
    ok $? 'a header that changed is not a file to look at'
    since 'ok 1 - gcc has nothing to say of 1 files' --includers
    ok $? 'with --includers those that include it are, but for recording programs'
    echo '' >>"$tree/conformance/recorded/facts/d.c"
    since 'ok 1 - gcc has nothing to say of 2 files' --includers
    ok $? 'which are looked at when they change themselves'
    mkdir "$tree/ci/analysed" && echo 'int such(void);' >"$tree/ci/analysed/b.h" && (cd "$tree" && git add -N ci/analysed)
    since 'ok 1 - gcc has nothing to say of 3 files' --includers
    ok $? 'and everything when ci/analysed changed'
else
    skip 'what changed since a commit' 'no git'
fi
finish
