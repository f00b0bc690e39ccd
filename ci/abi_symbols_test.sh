#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libcuda.so.1 exports the same names as the toolkit's library: only names of the driver API, those by which the
# checker and backend_cuda recognise it, and one that libnvidia-ml.so.1 calls.
build=${CUVMM_BUILD-build}
ours=$build/lib/libcuda.so.1
stub=${CUDA_PATH-/usr/local/cuda}/lib64/stubs/libcuda.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

names() { nm -D --defined-only "$1" | awk '{print $3}' | sort -u; }

names "$ours" >"$work/ours"
if ! grep -v '^cu[A-Z]' "$work/ours" | grep -qvxE 'cuvmm(BringsKernels|DeviceUsed|Registration|_held|_mark|_phase)'; then
    echo "ok 1 - only names of the driver's API are exported"
else
    grep -v '^cu[A-Z]' "$work/ours" | sed 's/^/# /'
    echo "not ok 1 - only names of the driver's API are exported"
fi
if [ "$(readelf -d "$ours" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = libcuda.so.1 ]; then
    echo "ok 2 - its soname is the driver's"
else
    echo "not ok 2 - its soname is the driver's"
fi
if [ ! -f "$stub" ]; then
    echo "ok 3 - every symbol of the toolkit's library is there # SKIP no toolkit"
else
    names "$stub" | grep '^cu' | comm -23 - "$work/ours" >"$work/missing"
    sed 's/^/# missing: /' "$work/missing"
    [ -s "$work/missing" ] && printf 'not '
    echo "ok 3 - every symbol of the toolkit's library is there"
fi
if ci/entry-points | cmp -s - docs/entry-points.md; then
    echo "ok 4 - docs/entry-points.md is of this table"
else
    echo "# make entry-points"
    echo "not ok 4 - docs/entry-points.md is of this table"
fi

# The header has each name once: as a macro for its newest form, or as the function.
table=api/entries.def
include=-Iapi/abi
rows() { awk -F'[(), ]+' -v want="$1" '$1 == "VMM_ENTRY" && (want == "" || $6 == want) { print $2, $3, $5, $4 }' "$table"; }
# What NAME of "SYMBOL NAME STREAMS VERSION" on standard input is after the header: NAME MEANING.
meanings() { { echo '#include <cuda.h>'; awk '!seen[$2]++ { print "MEANS_" $2, $2 }'; } >"$work/names.c"
    cc -E -P -x c "$@" "$work/names.c" | sed -n 's/^MEANS_//p'; }
declared() { cc -E -P -x c "$include" "$@" api/abi/cuda.h | tr '\n' ' ' | tr ';' '\n' | sed -n 's/.*CUresult *\(cu[A-Za-z0-9_]*\) *(.*/\1/p' | sort -u; }
result() { # NUMBER FINDINGS TEXT
    sed 's/^/# /' "$2"
    [ -s "$2" ] && printf 'not '
    echo "ok $1 - $3"
}

# A name whose forms are all history stands for a later entry point, which has a name of its own: cuGraphInstantiate.
rows DONE >"$work/done"
for own in '' -DCUDA_API_PER_THREAD_DEFAULT_STREAM; do
    meanings "$include" ${own:+"$own"} <"$work/done" >"$work/means"
    declared ${own:+"$own"} >"$work/declared"
    awk -v own="$own" 'FILENAME == ARGV[1] {
            is[$1] = $2 " " $3; since[$1] = $4; if ($4 > newest[$2]) newest[$2] = $4; if ($3 == "PER_THREAD") both[$2] = 1; next
        }
        FILENAME == ARGV[3] && $1 != $2 && is[$2] == $2 " LEGACY" && since[$2] > newest[$1] { next }
        FILENAME == ARGV[2] { declared[$1] = 1; if (!($1 in is)) print $1 " is declared and not there"; next }
        is[$2] != $1 " " (own != "" && $1 in both ? "PER_THREAD" : "LEGACY") { print $1 " stands for " $2 ", " is[$2] }
        !($2 in declared) { print $2 " is there and not declared" }' "$work/done" "$work/declared" "$work/means"
done >"$work/wrong"
result 5 "$work/wrong" "api/abi/cuda.h declares each entry point that is there, and none that is not"

toolkit=${CUDA_PATH-/usr/local/cuda}/include
if [ ! -f "$toolkit/cudaTypedefs.h" ]; then
    echo "ok 6 - names stand for the toolkit's forms # SKIP no toolkit"
    echo "ok 7 - each entry point has the toolkit's version # SKIP no toolkit"
else
    for own in '' -DCUDA_API_PER_THREAD_DEFAULT_STREAM; do
        meanings "$include" ${own:+"$own"} <"$work/done" >"$work/means"
        meanings -isystem "$toolkit" ${own:+"$own"} <"$work/done" | diff "$work/means" -
    done >"$work/wrong"
    result 6 "$work/wrong" "names stand for the toolkit's forms"
    # PFN_NAME_vVERSION is its prototype; of the thread's own stream with the symbol's suffix.
    grep -oh 'PFN_cu[A-Za-z0-9_]*)' "$toolkit/cudaTypedefs.h" "$toolkit/cudaProfilerTypedefs.h" | tr -d ')' | sort -u >"$work/prototypes"
    awk -F'[(), ]+' '$1 == "VMM_ENTRY" && $3 != "cuGetProcAddress" {
        print "PFN_" $3 "_v" $4 ($5 == "PER_THREAD" ? "_" substr($2, length($2) - 3) : "")
    }' "$table" | sort -u | comm -23 - "$work/prototypes" >"$work/wrong"
    result 7 "$work/wrong" "each entry point has the toolkit's version"
fi
echo 1..7
