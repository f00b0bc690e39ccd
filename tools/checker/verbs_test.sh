#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cuvmm check` looks at what a program registers of a dma-buf with a network card, over a driver (the simulator's library in its
# place) and on the simulator, in a program that is linked with libibverbs: the answer stays that of libibverbs.
set -u
build=${CUVMM_BUILD-build}
build=$(cd "$build" && pwd)
. ci/tap.sh
own_system
without_sanitizer
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
said=$work/err
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_CHECK_LOG CUVMM_EXPLAIN LD_PRELOAD
export LD_LIBRARY_PATH=$build/lib
programs=$PWD/conformance/programs/checker
compile=("${CC-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -g -isystem api/abi -I"$programs")

"${compile[@]}" -shared -fPIC -Wl,-soname,libibverbs.so.1 "$programs/verbs.c" -o "$work/libibverbs.so.1" 2>"$work/err" &&
    cat >"$work/program.c" <<'END' &&
#define _GNU_SOURCE
#include <cuda.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "verbs.h"
#ifdef WITHOUT
#pragma weak ibv_reg_dmabuf_mr
#endif

/* Registers so many pages of a dma-buf of four: "registered", or why not. */
static void register_pages(int fd, size_t pages)
{
    errno = 0;
    void *registered = ibv_reg_dmabuf_mr(NULL, 4096, 4096 * pages, 0, fd, 0);
    printf("%s ", registered ? "registered" : errno == EINVAL ? "EINVAL" : errno == EOPNOTSUPP ? "EOPNOTSUPP" : "another error");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUdeviceptr at;
    int fd = memfd_create("dma-buf", MFD_CLOEXEC);
    (void)argc;
    if (ftruncate(fd, 4 * 4096))
        return 3;
    if (strcmp(argv[1], "early") == 0)
        register_pages(fd, 4);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc(&at, 4096) || cuMemFree(at))
        return 4;
    if (strcmp(argv[1], "child") == 0) {
        int status = 1;
        if (fork() == 0) {
            register_pages(fd, 4);
            _exit(0);
        }
        wait(&status);
        return status != 0;
    }
    if (strcmp(argv[1], "early") != 0) {
        register_pages(fd, 3);
        register_pages(fd, 4);
    }
    return 0;
}
END
    "${compile[@]}" "$work/program.c" -o "$work/with" "$work/libibverbs.so.1" -Wl,-rpath,"$work" -L"$build/lib" -lcuda 2>"$work/err" &&
    "${compile[@]}" -DWITHOUT "$work/program.c" -o "$work/without" -L"$build/lib" -lcuda 2>"$work/err"
ok $? "the programs are built"
cd "$work" || exit 1

check() { # check STATUS WORDS ARGUMENT...: the program prints the words
    local status=$1 words=$2
    shift 2
    timeout 120 "$build/bin/cuvmm" check "$@" >out 2>err
    [ $? = "$status" ] && [ "$(cat out)" = "$words" ]
}
says() {
    grep -Eq -- "$1" err
}

./with now >out && [ "$(cat out)" = "registered EINVAL " ]
ok $? "without a checker"
for backend in driver sim; do
    on=("--backend=$backend" --leaks=no --error-exitcode=9)
    check 9 "registered EINVAL " "${on[@]}" ./with now && says 'hazard VMM-DMABUF-REGISTRATION: ibv_reg_dmabuf_mr' && says '1 hazard,' &&
        says 'called by register_pages \(.*program.c:19\)' && says '16384 bytes from offset 4096 on, and the dma-buf has 16384'
    ok $? "$backend: one that ends behind the dma-buf is found, with its place; the answer is libibverbs' own"
    check 0 "EINVAL " "${on[@]}" ./with early && ! says VMM-DMABUF
    ok $? "$backend: before the driver is used nothing is looked at"
    check 0 "EINVAL " "${on[@]}" ./with child && ! says VMM-DMABUF
    ok $? "$backend: nor in a child that cannot use it"
    check 0 "EOPNOTSUPP EOPNOTSUPP " "${on[@]}" ./without now && ! says VMM-DMABUF
    ok $? "$backend: without libibverbs there is no such function"
done
"$build/bin/cuvmm" exec ./with now >out 2>err && [ "$(cat out)" = "registered EINVAL " ] && [ ! -s err ]
ok $? "cuvmm exec only passes it on"
echo "1..$points"
[ "$failures" = 0 ]
