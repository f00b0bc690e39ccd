#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs compiled against the last release run with this tree's shared libraries: ci/abi-diff compares them with
# ci/abi/ of the last tag, or of this tree if there is no tag (docs/stability.md). ci/abi-diff detects incompatible
# changes in a library made by this test.
set -u
build=${CUVMM_BUILD-build}
compiler=${CC-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. ci/tap.sh
own_system
said=$work/said # what `ok` shows of a failure
if ! command -v abidiff >/dev/null; then
    echo "1..0 # SKIP needs libabigail (ci/setup --all)"
    exit 0
fi
export ABI_REVIEWED=ci/abi/reviewed.abignore

tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)
for pair in libcuvmm:libcuvmm.so libcuda:libcuda.so.1 libcudart-12:libcudart.so.12 libcudart-13:libcudart.so.13 libnvidia-ml:libnvidia-ml.so.1; do
    reference=ci/abi/${pair%:*}.abi.xz since='ci/abi'
    if [ -n "$tag" ] && git cat-file -e "$tag:$reference" 2>/dev/null; then
        git show "$tag:$reference" >"$work/${pair%:*}.abi.xz"
        reference=$work/${pair%:*}.abi.xz since=$tag
    fi
    what="${pair#*:} runs the programs of $since"
    if [ -n "${CUVMM_SAN-}" ]; then
        skip "$what" 'a sanitizer adds names of its own'
        continue
    fi
    ci/abi-diff "$reference" "$build/lib/${pair#*:}" >"$said" 2>&1
    status=$?
    if [ $status = 2 ]; then skip "$what" "$(tail -n 1 "$said")"; else ok $status "$what"; fi
done

# ---- a library of the test's own ----

export ABI_HEADERS=$work/include ABI_REVIEWED=
mkdir "$work/include"
library() { # library MEMBERS FUNCTION...: the members of its structure, and functions that take one
    local members=$1 function
    shift
    echo "struct it { $members };" >"$work/include/it.h"
    { echo '#include "it.h"' && for function in "$@"; do echo "void $function; void $function {}"; done; } >"$work/it.c"
    "$compiler" -g ${level:+"$level"} -shared -fPIC -I"$work/include" -Wl,-soname,"${soname-libit.so.1}" -o "$work/it.so" "$work/it.c" >"$said" 2>&1
}
compared() { # compared STATUS NAME [TEXT]
    ci/abi-diff "$work/it.abi.xz" "$work/it.so" >"$said" 2>&1
    [ $? = "$1" ] && grep -q -- "${3-}" <(cat "$said"; echo)
    ok $? "$2"
}
if ! library 'int a; long b;' 'it_open(struct it *it)' 'it_close(struct it *it, int how)' || [ "$(uname -m)" != x86_64 ]; then
    skip 'what breaks programs is noticed' 'no compiler, or not on x86-64'
else
    ci/abi-diff --write "$work/it.abi.xz" "$work/it.so" >"$said" 2>&1
    ok $? 'a reference is written'
    compared 0 'the same library'
    library 'int a; long b;' 'it_open(struct it *it)' 'it_close(struct it *it, int how)' 'it_new(struct it *it)'
    compared 0 'a new function breaks nothing'
    library 'int a; long b;' 'it_open(struct it *it)'
    compared 1 'a function is gone' it_close
    library 'int a; long b;' 'it_open(struct it *it)' 'it_close(struct it *it, long how)'
    compared 1 'a parameter has another type' it_close
    library 'int a; int more; long b; long c;' 'it_open(struct it *it)' 'it_close(struct it *it, int how)'
    compared 1 'a structure has another layout' 'struct it'
    library 'int a; long b; long c;' 'it_open(struct it *it)' 'it_close(struct it *it, int how)'
    compared 1 'a structure has grown' 'struct it'
    printf '[suppress_type]\nname = it\nhas_data_member_inserted_at = end\n' >"$work/reviewed"
    ABI_REVIEWED=$work/reviewed compared 0 'reviewed: it may grow at its end'
    soname=libit.so.2 library 'int a;' 'it_open(struct it *it)'
    compared 2 'another soname is another library' 'programs of that one need that library'
    level=-g1 library 'int a; long b;' 'it_open(struct it *it)' 'it_close(struct it *it, int how)'
    compared 2 'a library without types' 'built without -g'
fi
echo "1..$points"
[ "$failures" -eq 0 ]
