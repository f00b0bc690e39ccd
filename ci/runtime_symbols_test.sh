#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libcudart.so.12 and .13 export the names of api/runtime_entries.def, each with the version that the toolkit's library gives it, and no
# others; every name of the toolkit's is among them. CUDA_PATH is a toolkit of CUDA 13, CUDART_12 a libcudart.so.12 of NVIDIA's.
build=${CUVMM_BUILD-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests=0

names() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@@*/, " ", $3); print $3 }' | sort -u; }
listed() { sed -n "s/^RT_ENTRY(\([^,]*\), \(BOTH\|IN$1\), .*/\1/p" api/runtime_entries.def | sort; }
result() { # FINDINGS TEXT
    tests=$((tests + 1))
    sed 's/^/# /' "$1"
    [ -s "$1" ] && printf 'not '
    echo "ok $tests - $2"
}
skip() { tests=$((tests + 1)) && echo "ok $tests - $1 # SKIP $2"; }

for major in 12 13; do
    library=$build/lib/libcudart.so.$major
    names "$library" >"$work/ours"
    listed $major | sed "s/$/ libcudart.so.$major/" | sort | diff - "$work/ours" >"$work/wrong"
    result "$work/wrong" "libcudart.so.$major has the names of the list, with their versions"
    readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' | grep -vx "libcudart.so.$major" >"$work/wrong"
    readelf -d "$library" | grep NEEDED | grep cuda >>"$work/wrong"
    result "$work/wrong" "its soname is the toolkit's, and it is linked with no driver"
    theirs=${CUDART_12-/usr/local/cuda-12/lib64/libcudart.so.12}
    [ $major = 12 ] || theirs=${CUDA_PATH-/usr/local/cuda}/lib64/libcudart.so.13
    if [ -f "$theirs" ]; then
        names "$theirs" | comm -23 - "$work/ours" >"$work/wrong"
        result "$work/wrong" "each symbol of NVIDIA's libcudart.so.$major is there"
    else
        skip "each symbol of NVIDIA's libcudart.so.$major is there" "no such library"
    fi
    # The header has each name: what is DONE and documented.
    for own in '' -DCUDA_API_PER_THREAD_DEFAULT_STREAM; do
        version=${major}000
        [ $major = 13 ] || version=12090
        echo '#include <cuda_runtime_api.h>' | "${CC-cc}" -E -P -x c -Iapi/abi -DCUDART_VERSION=$version ${own:+"$own"} - | tr '\n' ' ' | tr ';' '\n' |
            sed -n 's/.*[ *]\(_*cuda[A-Za-z0-9_]*\) *(.*).*/\1/p' | sort -u >"$work/declared"
        sed -n "s/^RT_ENTRY(\([^,]*\), \(BOTH\|IN$major\), DONE)/\1/p" api/runtime_entries.def | sort >"$work/done"
        comm -23 "$work/declared" "$work/done" | sed 's/$/ is declared and not there/'
    done | sort -u >"$work/wrong"
    result "$work/wrong" "cuda_runtime_api.h declares no function that libcudart.so.$major lacks"
done
ci/runtime-entries | diff - docs/runtime.md >"$work/wrong" || echo 'make runtime-entries' >>"$work/wrong"
result "$work/wrong" "docs/runtime.md lists what is there"
echo "1..$tests"
