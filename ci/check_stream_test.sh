#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How findings reach `cuvmm check`: from programs that close every descriptor, fork, execute another program, change their root,
# report from hundreds of threads or are killed; and how a program behaves whose `cuvmm check` is killed.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_CHECK_LOG CUVMM_CHECK_STREAM CUVMM_EXPLAIN
check=$build/bin/cuvmm
said=$work/err

cat >"$work/program.c" <<'END'
#define _GNU_SOURCE
#include <cuda.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUdeviceptr at;
static size_t size = 2 << 20;

static CUmemGenericAllocationHandle create(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (cuMemCreate(&handle, size, &prop, 0) != CUDA_SUCCESS)
        exit(3);
    return handle;
}

static void begin(void)
{
    CUcontext context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAddressReserve(&at, size, 0, 0, 0))
        exit(3);
}

/* VMM-MAP-HANDLE-... would crash a driver; a size of 1 is refused everywhere. */
__attribute__((noinline)) static void mistake(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (cuMemCreate(&handle, 1, &prop, 0) != CUDA_ERROR_INVALID_VALUE)
        exit(4);
}

__attribute__((noinline)) static void other_mistake(void)
{
    if (cuMemAddressFree(at, 1) == CUDA_SUCCESS)
        exit(4);
}

/* A stack of its own for each depth. */
__attribute__((noinline)) static int deeper(int depth)
{
    if (depth > 0)
        return deeper(depth - 1) + 1;
    mistake();
    return 1;
}

static void *in_thread(void *depth)
{
    deeper((int)(long)depth);
    return NULL;
}

static void end(void)
{
    cuMemAddressFree(at, size);
}

static int threads(void)
{
    enum { THREADS = 300 };
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, in_thread, (void *)(i % 5)))
            exit(3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static int all_closed(const char *file)
{
    closefrom(3);
    int mine = open(file, O_RDWR | O_CREAT | O_TRUNC, 0666);
    mistake();
    closefrom(4);
    other_mistake();
    if (write(mine, "mine", 4) != 4 || lseek(mine, 0, SEEK_END) != 4)
        exit(5);
    return 0;
}

/* The next number is as free as without the checker. */
static int same_numbers(void)
{
    int before = dup(0);
    close(before);
    mistake();
    int after = dup(0);
    return before == after ? 0 : 6;
}

static int in_another_root(const char *folder)
{
    if (chroot(folder) || chdir("/"))
        return 77;
    mistake();
    pid_t child = fork();
    if (child == 0) {
        cuMemAddressFree(at, 1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

static int many(long count, void (*one)(void))
{
    for (long i = 0; i < count; i++)
        one();
    return 0;
}

static void leak(void)
{
    create();
}

static void wait_for(const char *file)
{
    while (access(file, F_OK) != 0)
        usleep(1000);
}

static void make(const char *file)
{
    close(open(file, O_RDWR | O_CREAT, 0666));
}

static int forked(void)
{
    for (int i = 0; i < 5; i++)
        if (fork() == 0) {
            begin();
            mistake();
            end();
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
    begin();
    mistake();
    end();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argv[1], *word = argc > 2 ? argv[2] : "";
    int status = 0;
    if (strcmp(what, "forked") == 0)
        return forked();
    begin();
    if (strcmp(what, "threads") == 0)
        status = threads();
    else if (strcmp(what, "closed") == 0)
        status = all_closed(word);
    else if (strcmp(what, "numbers") == 0)
        status = same_numbers();
    else if (strcmp(what, "root") == 0)
        status = in_another_root(word);
    else if (strcmp(what, "mistakes") == 0)
        status = many(atol(word), mistake);
    else if (strcmp(what, "leaks") == 0)
        status = many(atol(word), leak);
    else if (strcmp(what, "execute") == 0) {
        mistake();
        execl(argv[0], argv[0], "other", (char *)NULL);
    } else if (strcmp(what, "other") == 0)
        other_mistake();
    else if (strcmp(what, "killed") == 0) {
        mistake();
        kill(getpid(), SIGKILL);
    } else if (strcmp(what, "orphan") == 0) {
        mistake();
        make(word);
        while (getppid() == (pid_t)atol(argv[3]))
            usleep(1000);
        other_mistake();
        make(argv[4]);
    } else if (strcmp(what, "outlives") == 0) {
        if (fork() == 0) {
            wait_for(word);
            cuMemAddressFree(at, 1); /* of a forked child: VMM-INIT-FORKED */
            make(argv[3]);
            _exit(0);
        }
    }
    end();
    return status;
}
END
"${CC-cc}" -std=c11 -Wall -Wextra -O1 -g -isystem api/abi "$work/program.c" -o "$work/program" -L"$build/lib" -lcuda -lpthread 2>"$said"
ok $? "the program compiles"
export LD_LIBRARY_PATH=$build/lib

run() { # run STATUS ARGUMENT...: output in out and err
    local want=$1
    shift
    timeout 120 "$check" check "$@" >"$work/out" 2>"$said" </dev/null
    [ $? = "$want" ]
}
says() {
    contains "$1" "$said"
}

for side in driver sim:h100; do
    on=--backend=$side
    run 0 "$on" "$work/program" closed "$work/mine" && says 'error VMM-CREATE-SIZE' && says '2 errors, 0 hazards' && [ "$(cat "$work/mine")" = mine ]
    ok $? "$side: a program that closes every descriptor, and uses their numbers"
    run 0 "$on" "$work/program" numbers && says '1 error, '
    ok $? "$side: a finding leaves no descriptor behind"
    run 0 "$on" "$work/program" threads && says '5 errors (300 times), 0 hazards, 0 leaks' && [ "$(grep -c '^\[[0-9]*\] error' "$said")" = 5 ]
    ok $? "$side: 300 threads report at once, each finding is whole and counted"
    run 0 "$on" "$work/program" forked && says '2 errors (6 times), 0 hazards, 0 leaks'
    ok $? "$side: what five processes do at one place is one finding, and a sixth elsewhere another"
    run 0 "$on" "$work/program" execute && says '2 errors, 0 hazards' && says '1 of 2 processes did not exit cleanly'
    ok $? "$side: a program that executes another"
    run 137 "$on" "$work/program" killed && says 'error VMM-CREATE-SIZE' && says 'signal 9' && says '1 error, '
    ok $? "$side: a program that is killed after a finding"
    if [ "$(id -u)" = 0 ] && mkdir -p "$work/root" && chroot "$work/root" /nothing 2>"$work/chroot"; [ -d "$work/root" ] && ! grep -q 'Operation not permitted' "$work/chroot"; then
        run 0 "$on" --json="$work/json" "$work/program" root "$work/root" && says '2 errors, 0 hazards' && says 'VMM-INIT-FORKED' &&
            [ "$(grep -o '"class":"error"' "$work/json" | wc -l)" = 2 ] # by records, not as text
        ok $? "$side: a program that changes its root, and its child"
    else
        skip "$side: a program that changes its root" "chroot is not permitted here"
    fi

    rm -f "$work/ready" "$work/done"
# shellcheck disable=SC2016 # for that shell, not this one
    "$check" check "$on" sh -c 'exec "$0" orphan "$1" $PPID "$2"' "$work/program" "$work/ready" "$work/done" 2>"$said" </dev/null &
    parent=$!
    for _ in $(seq 3000); do [ -e "$work/ready" ] && says 'error VMM-CREATE-SIZE' && break; sleep 0.01; done
    kill -KILL $parent
    for _ in $(seq 3000); do [ -e "$work/done" ] && break; sleep 0.01; done
    wait $parent 2>/dev/null
    [ -e "$work/done" ] && says 'error VMM-CREATE-SIZE' && says 'error VMM-FREE'
    ok $? "$side: a program whose checker is killed goes on, and writes its findings itself"

    rm -f "$work/ready" "$work/done"
    run 0 "$on" "$work/program" outlives "$work/ready" "$work/done" && says '0 errors, 0 hazards'
    status=$?
    touch "$work/ready"
    for _ in $(seq 3000); do [ -e "$work/done" ] && break; sleep 0.01; done
    [ $status = 0 ] && says 'error VMM-INIT-FORKED'
    ok $? "$side: nor does one wait for a process that outlives the program, which writes its findings itself"

    run 0 "$on" "$work/program" mistakes 100000 && says '1 error (100000 times), 0 hazards' && [ "$(wc -l <"$said")" -lt 40 ]
    ok $? "$side: 100,000 mistakes at one place are one finding"
    run 9 "$on" --error-exitcode=9 "$work/program" leaks 20000 && says '1 leak (20000 times, 40000 MiB of memory)' && says 'VMM-LEAK-HANDLE: cuMemCreate (call 5), 20000 times, 40000 MiB' && [ "$(wc -l <"$said")" -lt 40 ]
    ok $? "$side: 20,000 leaks of one place are one finding"
done
[ -z "$(find "${TMPDIR-/tmp}" -maxdepth 1 -name 'cuvmm-check-*' -newer "$work/program.c" -exec sh -c '[ -S "$1/stream" ] && ! grep -q "$1" /proc/net/unix && echo "$1"' _ {} \; | tail -n +3)" ]
ok $? "no socket is left but those of the killed checkers"
finish
