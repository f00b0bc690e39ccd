#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libcuda.so.1 exports what the toolkit's library does, and nothing but names of the driver's API and one by which
# backend_cuda knows it.
build=${CUVMM_BUILD-build}
ours=$build/lib/libcuda.so.1
stub=${CUDA_PATH-/usr/local/cuda}/lib64/stubs/libcuda.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

names() { nm -D --defined-only "$1" | awk '{print $3}' | sort -u; }

names "$ours" >"$work/ours"
if ! grep -v '^cu[A-Z]' "$work/ours" | grep -qvx cuvmmBringsKernels; then
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
echo 1..4
