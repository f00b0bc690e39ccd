#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of the driver's API, compiled against our header or the toolkit's, runs on libcuda.so.1 with its kernel in a
# plugin; without the plugin a message says how to write one, and with CUVMM_EXPLAIN why a call is refused.
build=${CUVMM_BUILD-build}
cuda=${CUDA_PATH-/usr/local/cuda}
work=$(mktemp -d) || exit 1
if [ "$(readelf -lW "$build/bin/cuvmm" | sed -n 's/.*interpreter: //p')" != "$(readelf -lW "$(command -v env)" | sed -n 's/.*interpreter: //p')" ]; then
    echo "1..0 # SKIP the build is for another loader than programs of this machine"
    exit 0
fi
trap 'rm -rf "$work"' EXIT
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP the library holds a sanitizer, the program does not"
    exit 0
fi
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS
points=0

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok $points - $2"; else echo "not ok $points - $2"; fi
}

compile() { # compile INCLUDE OUTPUT
    ${CC-cc} -std=c11 -isystem "$1" -o "$2" conformance/programs/unmodified/vector_add.c -L"$build/lib" -lcuda
}

run() { # run PROGRAM: its output in $work/out and $work/err
    LD_LIBRARY_PATH=$build/lib "$work/$1" "$work/image" >"$work/out" 2>"$work/err"
}

: >"$work/image"
${CC-cc} -std=c11 -Wall -Wextra -Wpedantic -shared -fPIC -Iapi -o "$work/kernels.so" conformance/programs/unmodified/vector_add_kernels.c \
    conformance/programs/unmodified/kernel_template.c
point $? "plugins compile"
compile api/abi "$work/ours"
point $? "the program compiles against our header"
CUVMM_KERNELS=$work/kernels.so run ours
[ "$(cat "$work/out")" = "NVIDIA H100 80GB HBM3: 1000 of 1000 sums are right" ] && [ ! -s "$work/err" ]
point $? "it runs, and nothing else is said"
CUVMM_SIM=sim:gb200x4 CUVMM_KERNELS=$work/kernels.so run ours
grep -q '1000 of 1000' "$work/out"
point $? "on another machine"
if [ -e "$cuda/include/cuda.h" ]; then
    compile "$cuda/include" "$work/theirs" && CUVMM_KERNELS=$work/kernels.so run theirs && grep -q '1000 of 1000' "$work/out"
    point $? "compiled against the toolkit's header"
else
    point 0 "compiled against the toolkit's header # SKIP no toolkit"
fi
printf '%s\n' '#include <cuda.h>' 'int main(void) { CUcontext c; float ms; return cuInit(0) || cuCtxCreate(&c, 0, 0) ||' \
    'cuEventElapsedTime(&ms, 0, 0) != CUDA_ERROR_INVALID_HANDLE || cuCtxDestroy(c); }' >"$work/twelve.c"
${CC-cc} -std=c11 -DCUDA_VERSION=12000 -isystem api/abi -o "$work/twelve" "$work/twelve.c" -L"$build/lib" -lcuda && run twelve
point $? "with the signatures of CUDA 12"
run ours
grep -q 'no kernel vectorAdd.*CUVMM_KERNELS' "$work/err"
point $? "without the plugin the program prints how to write one"
CUVMM_EXPLAIN=1 CUVMM_LAYERS=fault=mem_map:2 CUVMM_KERNELS=$work/kernels.so run ours
grep -q 'cuMemMap' "$work/err" && grep -q 'is still held' "$work/err"
point $? "CUVMM_LAYERS and CUVMM_EXPLAIN: a call fails, and what is left is reported"
CUVMM_LAYERS=trace=$work/trace CUVMM_KERNELS=$work/kernels.so run ours
grep -q mem_set_access "$work/trace"
point $? "and a trace holds its calls"
CUVMM_SIM=sim:nowhere run ours
grep -q 'CUVMM_SIM.*cannot be used' "$work/err"
point $? "a machine that is none is named"
echo "1..$points"
