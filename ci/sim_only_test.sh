#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libcuvmm-sim.a: the simulator without a line for a driver. From make check: CUVMM_BUILD, CUVMM_SAN, CC.
set -u
build=${CUVMM_BUILD-build}
. ci/tap.sh
own_system
library=$build/lib/libcuvmm-sim.a
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build links against its own"
    exit 0
fi
work=$(mktemp -d "${TMPDIR:-.}/sim_only_test.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/program.c" <<'C'
#include <stdio.h>
#include "vmm.h"
int main(void)
{
    vmm_system *sys = NULL;
    int count = 0;
    if (vmm_open("shadow|sim:h200x2", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        return 1;
    vmm_device_get_count(sys, &count);
    vmm_close(sys);
    printf("%d devices, cuda: %s, %s\n", count, vmm_result_name(vmm_open("cuda", &sys)), vmm_last_detail()->note);
    return 0;
}
C
if "${CC-cc}" -std=c11 -Iapi "$work/program.c" "$library" -pthread -o "$work/program" >"$work/said" 2>&1; then
    echo "ok 1 - a program links with it, and with nothing but the C library and pthreads"
else
    echo "not ok 1 - a program links with it, and with nothing but the C library and pthreads"
    sed 's/^/#   /' "$work/said"
fi
said=$("$work/program" 2>&1)
case $said in
"2 devices, cuda: CUDA_ERROR_NOT_FOUND, "*"linked with the simulator only"*) echo "ok 2 - it runs, and says what it lacks" ;;
*) echo "not ok 2 - it runs, and says what it lacks"; echo "#   $said" ;;
esac
if nm "$library" 2>/dev/null | grep -E ' (dlopen|dlsym)|cuGetProcAddress|vmm_cuda_' >"$work/said"; then
    echo "not ok 3 - nothing in it looks for a driver"
    sed 's/^/#   /' "$work/said"
else
    echo "ok 3 - nothing in it looks for a driver"
fi
echo "1..3"
