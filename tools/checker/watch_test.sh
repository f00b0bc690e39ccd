#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `cuvmm check` follows beside findings: marks and growth between them, traces of processes, and the last calls of those that
# crash; over a driver (the simulator's library in its place) and on the simulator.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
said=$work/err
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_CHECK_LOG CUVMM_EXPLAIN CUVMM_CHECK_GROWTH LD_PRELOAD
cuvmm=$build/bin/cuvmm
export LD_LIBRARY_PATH=$build/lib

"${CC-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -g -isystem api/abi -isystem api -x c - -o "$work/program" -L"$build/lib" -lcuda >"$work/err" 2>&1 <<'END'
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuvmm_mark.h"
#define SIZE ((size_t)2 << 20)
static void start(void)
{
    CUcontext context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        exit(3);
}
__attribute__((noinline)) static CUmemGenericAllocationHandle create(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle;
    if (cuMemCreate(&handle, SIZE, &prop, 0))
        exit(4);
    return handle;
}
static CUdeviceptr map(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr at;
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (cuMemAddressReserve(&at, SIZE, 0, 0, 0) || cuMemMap(at, SIZE, 0, handle, 0) || cuMemSetAccess(at, SIZE, &desc, 1))
        exit(5);
    return at;
}
static void end(CUdeviceptr at, CUmemGenericAllocationHandle handle)
{
    cuMemUnmap(at, SIZE);
    cuMemAddressFree(at, SIZE);
    cuMemRelease(handle);
}
static volatile sig_atomic_t asked;
static void ask(int number)
{
    (void)number;
    asked = 1;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int steps = argc > 2 ? atoi(argv[2]) : 0, leaks = argc > 3 ? atoi(argv[3]) : 0, heard = 0;
    alarm(60);
    start();
    create(); /* never given back, as a framework would */
    if (strcmp(what, "train") == 0 || strcmp(what, "unmarked") == 0)
        for (int step = 1; step <= steps; step++) {
            CUmemGenericAllocationHandle handle = create();
            end(map(handle), handle);
            if (leaks && step % leaks == 0)
                create();
            if (what[0] == 't')
                heard += cuvmm_mark("step");
        }
    if (strcmp(what, "phases") == 0) {
        cuvmm_mark("load");
        create();
        cuvmm_mark("train");
        cuMemUnmap(0x1000, SIZE);
        cuvmm_mark(NULL);
    }
    if (strcmp(what, "crash") == 0) {
        CUmemGenericAllocationHandle handle = create();
        end(map(handle), handle);
        raise(SIGSEGV);
    }
    if (strcmp(what, "fault") == 0) {
        CUmemGenericAllocationHandle handle = create();
        CUdeviceptr at = map(handle);
        cuMemsetD8Async(at, 1, SIZE, NULL);
        cuMemUnmap(at, SIZE);
        CUresult result = cuCtxSynchronize();
        for (int i = 0; i < 5000; i++) /* more than are kept */
            cuMemGetInfo(&(size_t){0}, &(size_t){0});
        return result == CUDA_ERROR_ILLEGAL_ADDRESS ? 6 : 0;
    }
    if (strcmp(what, "wait") == 0) {
        if (steps)
            signal(SIGUSR1, ask);
        puts("ready");
        fflush(stdout);
        for (int i = 0; i < 3000 && !asked && access(argv[3], F_OK); i++)
            usleep(10000);
        return steps && !asked ? 7 : 0;
    }
    printf("%d\n", heard);
    return 0;
}
END
ok $? "the program is compiled"
cd "$work" || exit 1
program=$work/program

check() { # STATUS ARGUMENTS: into out and err
    local want=$1
    shift
    timeout 120 "$cuvmm" check "$@" >out 2>err </dev/null
    [ $? = "$want" ]
}
says() { grep -qE -- "$1" err; }
mkdir temporary
export TMPDIR=$work/temporary
file=none

cat >mark.py <<'END'
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
mark = getattr(cuda, "cuvmm_mark", lambda text: 0)
context, heard = ctypes.c_void_p(), 0
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
for step in range(6):
    cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(1 << 20))
    heard += mark(b"step")
print(heard)
END
"$program" train 3 >out 2>err
[ "$(cat out)" = 0 ]
ok $? "without a checker marks do nothing"

for backend in driver sim; do
    on=("--backend=$backend" --leaks=no)
    check 9 "${on[@]}" --error-exitcode=9 "$program" train 40 1 && says 'hazard VMM-LEAK-GROWS: cuMemCreate' && [ "$(cat out)" = 40 ] &&
        says 'handles?, .* held at mark [0-9]+ "step"' && says '1 hazard'
    ok $? "$backend: a leak of each step is found at its marks"
    check 9 "${on[@]}" --error-exitcode=9 "$program" train 1000 100 && says 'VMM-LEAK-GROWS' && says 'about 1 each 1[0-9][0-9] marks' && says '1 hazard'
    ok $? "$backend: one each hundred steps, too"
    check 0 "${on[@]}" --error-exitcode=9 "$program" train 1000 && says '0 hazards'
    ok $? "$backend: a program that holds what it holds grows not"
    check 0 "${on[@]}" --error-exitcode=9 --growth=no "$program" train 40 1 && says '0 hazards'
    ok $? "$backend: --growth=no compares nothing"
    check 0 "${on[@]}" --error-exitcode=9 --growth=60 "$program" train 40 1 && says '0 hazards'
    ok $? "$backend: --growth=60 wants sixty marks in a row"
    if command -v python3 >/dev/null; then
        check 9 "${on[@]}" --error-exitcode=9 python3 mark.py && says 'VMM-LEAK-GROWS: cuMemAlloc' && [ "$(cat out)" = 6 ]
        ok $? "$backend: marks of Python"
    fi
    check 9 "${on[@]}" --error-exitcode=9 --growth=own "$program" unmarked 4000 100 && says 'VMM-LEAK-GROWS' && says 'of its own'
    ok $? "$backend: without marks --growth finds what goes on growing"
    check 0 "${on[@]}" --error-exitcode=9 --growth=own "$program" unmarked 4000 && says '0 hazards'
    ok $? "$backend: and nothing where nothing does"
    check 0 "${on[@]}" --json=report.json "$program" phases && grep -q '"mark": *"train"' report.json && says 'during +train'
    ok $? "$backend: a finding names its mark" report.json

    check 139 "${on[@]}" "$program" crash && says 'process [0-9]+ was ended by signal 11' && says 'cuMemUnmap\(ptr 0x[0-9a-f]+, size 2 MiB\) -> CUDA_SUCCESS' &&
        says 'cuMemRelease\(handle 0x[0-9a-f]+\) -> CUDA_SUCCESS'
    ok $? "$backend: the last calls of a program that crashed"
    check 139 "${on[@]}" --recorder=calls.%p.txt "$program" crash && file=$(echo calls.*.txt) && says "its last [0-9]+ calls are in .*$file" &&
        grep -q 'cuMemCreate(handle 0x' "$file" && grep -q 'ended by signal 11' "$file"
    ok $? "$backend: --recorder writes all of them into a file"
    at=$(sed -n 's/.*cuMemMap(ptr \(0x[0-9a-f]*\),.*/\1/p' "$file" | tail -n 1)
    rm -f "$file"
    check 139 "${on[@]}" --history="$at" "$program" crash && says "history of $at" && says 'call [0-9]+ \(thread [0-9]+\) mapped \[0x' &&
        says 'call [0-9]+ \(thread [0-9]+\) unmapped \[0x' && says 'freed the addresses \[0x'
    ok $? "$backend: the history of an address"
    check 139 "${on[@]}" --history="NVRM: Xid (PCI:0000:01:00): 31, pid=1, name=x, faulted @ ${at::-8}_${at: -8}. Fault is of type" "$program" crash &&
        says "history of $at"
    ok $? "$backend: that of a line of the kernel's log"
    check 0 "${on[@]}" "$program" phases && ! says 'the last [0-9]+ of'
    ok $? "$backend: a program that ends in order needs none"

    for handler in 0 1; do
        rm -f go fifo
        mkfifo fifo
        "$cuvmm" check "${on[@]}" "$program" wait $handler "$work/go" >fifo 2>err &
        checker=$!
        read -r word <fifo
        kill -USR1 $checker
        for _ in $(seq 1 600); do
            says 'asked for them by SIGUSR1' && break
            sleep 0.05
        done
        [ $handler = 1 ] || : >go
        wait $checker
        status=$?
        [ "$word" = ready ] && [ $status = 0 ] && says 'process [0-9]+ was asked for them by SIGUSR1; the last [0-9]+ of [0-9]+ calls' &&
            says 'cuMemCreate\(handle'
        ok $? "$backend: SIGUSR1 shows the last calls; a program that handles it ($handler) gets it, too: $status"
    done

    check 0 "${on[@]}" --trace=t.%p.jsonl "$program" phases && file=$(echo t.*.jsonl) && grep -q '"process":' "$file" && grep -q '"call":"mem_unmap"' "$file" &&
        grep -q '"time":' "$file"
    ok $? "$backend: a trace of each process" "$file"
    rm -f t.*.jsonl
done
check 6 --backend=sim:h100,schedule=late --leaks=no "$program" fault && says 'process [0-9]+ got an ILLEGAL_ADDRESS; the last [0-9]+ of [0-9]+ calls' &&
    says 'cuCtxSynchronize\(\) -> CUDA_ERROR_ILLEGAL_ADDRESS' && says 'history of 0x[0-9a-f]+:' && says 'call [0-9]+ \(thread [0-9]+\) mapped' &&
    says 'set the rights of .* to dev0 rw' && says 'call [0-9]+ \(thread [0-9]+\) unmapped' && ! says 'cuMemGetInfo[(]'
ok $? "sim: the calls before the first ILLEGAL_ADDRESS, and the history of its address, whatever the program calls then"
check 6 --backend=sim:h100,schedule=late --leaks=no --stacks=short "$program" fault && says 'main \([^ ]*:[0-9]+\)' 
ok $? "sim: with the places of the calls"
[ -z "$(ls -A temporary)" ]
ok $? "nothing is left of the recorders"

for wrong in --growth=1 --growth=x --growth=1001 --history=12 --history=0x --history=0xz --recorder=%q --recorder= --trace=%h "--trace=a|b" --trace=/no/such/folder/t; do
    check 2 --backend=sim "$wrong" touch "$work/started" && [ ! -e "$work/started" ] && grep -q -- "${wrong%%=*}" err
    ok $? "$wrong is refused before anything runs"
done
finish
