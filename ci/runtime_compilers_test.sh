#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What compilers emit for device code registers and launches on libcudart.so.12 and .13: nvcc, with and without linking of device
# code, with the thread's own default stream, and with the stubs of CUDA 12; clang; and libraries that are opened and closed.
# The kernels' twins are conformance/programs/runtime/kernels.c; moved.cu's runs from its PTX. A compiler that is not there is skipped by name.
. ci/tap.sh
without_sanitizer
build=$(cd "${CUVMM_BUILD-build}" && pwd)
cuda=${CUDA_PATH-/usr/local/cuda}
source=conformance/programs/runtime/sums.cu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
said=$work/said
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE CUVMM_EXPLAIN CUDA_VISIBLE_DEVICES
export CUVMM_SIM=sim:h100 CUVMM_KERNELS=$work/kernels.so LD_LIBRARY_PATH=$build/lib
# The program's last kernel has no twin. It runs from the image's PTX, where there is some; the linker of device code keeps none.
ran='1000 of 1000 sums are right, 2 launches, then cudaSuccess'
machine_code='1000 of 1000 sums are right, 2 launches, then cudaErrorNotSupported'
right=$ran
help='Adds numbers on a device.'

"${CC-cc}" -O1 -shared -fPIC -Iapi -o "$work/kernels.so" conformance/programs/runtime/kernels.c &&
    "${CC-cc}" -o "$work/plugins" conformance/programs/runtime/plugins.c -ldl || exit 1

# program NAME WHAT COMPILER...: compiles $work/NAME and runs it.
program() {
    local name=$1 what=$2
    shift 2
    if ! "$@" -o "$work/$name" >"$said" 2>&1; then
        ok 1 "$what: compiles"
        return
    fi
    timeout 60 "$work/$name" >"$work/out" 2>"$said"
    cat "$work/out" >>"$said"
    [ "$(cat "$work/out")" = "$right" ]
    ok $? "$what: $right"
    [ "$(CUVMM_LIBCUDA=/no/driver timeout 60 "$work/$name" --help 2>&1)" = "$help" ]
    ok $? "$what: prints its help without a driver"
}

plugin() { # plugin NAME WHAT COMPILER...: compiles $work/NAME, a library, which is opened and closed three times
    local name=$1 what=$2
    shift 2
    "$@" -DPLUGIN -shared -o "$work/$name" >"$said" 2>&1 && timeout 60 "$work/plugins" "$work/$name" 3 >"$work/out" 2>"$said" &&
        [ "$(grep -cx "$right" "$work/out")" = 3 ]
    ok $? "$what: a library that is opened and closed three times computes each time"
}

nvcc=$cuda/bin/nvcc
sm_90=("$nvcc" -arch=sm_90)
if [ -x "$nvcc" ] && "$nvcc" --version | grep -q 'release 13\.'; then
    program nvcc "nvcc 13" "${sm_90[@]}" -cudart shared "$source"
    right=$machine_code
    program nvcc-rdc "nvcc 13 -rdc=true -default-stream per-thread" "${sm_90[@]}" -rdc=true -default-stream per-thread \
        -cudart shared "$source"
    right=$ran
    program nvcc-12 "nvcc 13 with the stubs of nvcc 12, libcudart.so.12" "${sm_90[@]}" -D__NV_LEGACY_LAUNCH \
        -Xcompiler -D__NV_LEGACY_LAUNCH -cudart none "$source" -Xlinker "$build/lib/libcudart.so.12"
    plugin nvcc.so "nvcc 13" "${sm_90[@]}" -cudart shared -Xcompiler -fPIC "$source"
    right='1024 of 1024 elements are right, then cudaSuccess'
    help='Triples numbers in managed memory, and turns them over in an array.'
    program nvcc-moved "nvcc 13, managed memory and arrays" "${sm_90[@]}" -cudart shared conformance/programs/runtime/moved.cu
    program nvcc-moved-own "nvcc 13 -default-stream per-thread, managed memory and arrays" "${sm_90[@]}" -default-stream per-thread \
        -cudart shared conformance/programs/runtime/moved.cu
    help='Adds numbers on a device.'
else
    skip "nvcc 13" "no $nvcc of CUDA 13"
fi

# Only the host's half: a fat binary of its own, with a header and no entries, so nothing is in the image. CUDA 11.5 is the latest that clang 14 knows.
right=${machine_code/NotSupported/SymbolNotFound}
clang=(clang++ -x cuda -nocudainc -nocudalib --cuda-host-only -Wno-unknown-cuda-version -Xclang -target-sdk-version=11.5
    -Xclang -fcuda-include-gpubinary -Xclang "$work/fatbin" -fPIC -O1)
printf '\x50\xed\x55\xba\x01\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00' >"$work/fatbin"
if "${clang[@]}" -c "$source" -o "$work/clang.o" >"$said" 2>&1; then
    for major in 12 13; do
        program clang-$major "clang, libcudart.so.$major" "${CC-cc}" "$work/clang.o" \
            -Wl,--no-as-needed "$build/lib/libcudart.so.$major"
    done
    "${clang[@]}" -DPLUGIN -c "$source" -o "$work/plugin.o" >"$said" 2>&1
    plugin clang.so "clang" "${CC-cc}" "$work/plugin.o" -Wl,--no-as-needed "$build/lib/libcudart.so.13"
elif command -v clang++ >/dev/null; then
    skip "clang" "this clang compiles no CUDA: $(head -n 1 "$said")"
else
    skip "clang" "no clang++"
fi
echo "1..$points"
exit $((failures > 0))
