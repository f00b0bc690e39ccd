#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared libraries export what ci/symbols/ says: a name that is gone, and one that is not listed, are errors; and
# ci/symbols-list notices both, in a library of the test's own. No two of the archives that tests link have a function of one name.
. ci/test_head.sh
compiler=${CC-cc}

# A sanitizer's runtime adds names of its own.
if [ -z "${CUVMM_SAN-}" ]; then
    for pair in libcuvmm.so:libcuvmm libcuda.so.1:libcuda libnvidia-ml.so.1:libnvidia-ml; do
        ci/symbols-list "$build/lib/${pair%:*}" "ci/symbols/${pair#*:}.txt" 0 >"$work/said" 2>&1
        ok $? "${pair%:*} exports what ci/symbols/${pair#*:}.txt says"
    done
    # Tests link all three: of two functions with one name a linker takes the one that it finds first, or refuses.
    for archive in lib/libcuvmm.a obj/conformance.a obj/tools.a; do
        nm -g --defined-only "$build/$archive" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
    done | sort | uniq -d >"$work/said"
    [ ! -s "$work/said" ]
    ok $? 'no two archives have a function of one name'
fi

library() { # library SONAME NAME...: a library that exports them
    local soname=$1 name
    shift
    for name in "$@"; do
        echo "void $name(void); void $name(void) {}"
    done >"$work/it.c"
    "$compiler" -shared -fPIC -Wl,-soname,"$soname" -o "$work/it.so" "$work/it.c" >"$work/said" 2>&1
}

listed() { # listed STATUS TEXT [--update]: ci/symbols-list ends so and says TEXT, or nothing where TEXT is empty
    ci/symbols-list "$work/it.so" "$work/it.txt" "${version-1.0.0}" ${3+"$3"} >"$work/said" 2>&1
    [ $? = "$1" ] && if [ -n "$2" ]; then grep -qF -- "$2" "$work/said"; else [ ! -s "$work/said" ]; fi
}

library libit.so.1 it_open it_close
listed 2 'no list'
ok $? 'a list that is missing is an error'
listed 0 '' --update
printf 'libit.so.1\nit_close 1.0.0\nit_open 1.0.0\n' | cmp - "$work/it.txt" >>"$work/said" 2>&1
ok $? 'a list is written'
listed 0 ''
ok $? 'and holds'
library libit.so.1 it_open it_close it_more
listed 1 'new symbol: it_more. make symbols-update'
ok $? 'a new name is reported'
version=1.1.0 listed 0 '' --update
printf 'libit.so.1\nit_close 1.0.0\nit_more 1.1.0\nit_open 1.0.0\n' | cmp - "$work/it.txt" >>"$work/said" 2>&1
ok $? 'it is written down with its version, and the others keep theirs'
library libit.so.1 it_open it_more
listed 1 'removed symbol: it_close. Bring it back, or raise the major version'
ok $? 'a name that is gone is reported'
cp "$work/it.txt" "$work/before"
listed 1 'removed symbol: it_close' --update && cmp "$work/it.txt" "$work/before" >>"$work/said" 2>&1
ok $? 'an update does not hide it'
library libit.so.2 it_open it_more
listed 1 'the soname is libit.so.2, the list'
ok $? 'a new soname asks for a new list'
version=2.0.0 listed 0 '' --update
printf 'libit.so.2\nit_more 2.0.0\nit_open 2.0.0\n' | cmp - "$work/it.txt" >>"$work/said" 2>&1
ok $? 'which begins anew'
finish
