#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces of several processes (trace=t.%p.jsonl): each writes its own, and `cuvmm view` shows them in one page with who exported to
# whom. With a Chromium the page is opened, too (check_family.py).
. ci/test_head.sh
build=$(cd "$build" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
without_sanitizer
cuvmm=$build/bin/cuvmm
if [ "$("$cuvmm" replay /dev/null 2>&1 | grep -c jansson)" -gt 0 ]; then
    echo "1..0 # SKIP built without jansson"
    exit 0
fi
trap 'rm -rf "$work" "$machines"' EXIT
machines=$(in_memory "$work")
said=$work/err
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_EXPLAIN CUVMM_MACHINE LD_LIBRARY_PATH LD_PRELOAD
export CUVMM_MACHINES=$machines

# A parent exports memory by descriptor and by a handle of IPC to a child that executes the program anew, and a second piece by
# descriptor to one that it only forked, before it called the driver. A third child is forked after that, and makes a call.
"${CC-cc}" -std=gnu11 -Wall -Wextra -Werror -g -isystem api/abi -x c - -o "$work/family" -L"$build/lib" -lcuda >"$work/err" 2>&1 <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#define DO(call)                                             \
    do {                                                     \
        CUresult result = (call);                            \
        if (result != CUDA_SUCCESS) {                        \
            fprintf(stderr, "%s: %d\n", #call, (int)result); \
            exit(3);                                         \
        }                                                    \
    } while (0)
#define SIZE ((size_t)2 << 20)
struct gift {
    CUipcMemHandle ipc;
    int ordinal;
};
static void start(void)
{
    CUcontext context;
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
}
static void map(CUmemGenericAllocationHandle handle, size_t size)
{
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, size, 0, 0, 0));
    DO(cuMemMap(at, size, 0, handle, 0));
}
static int export(size_t size)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle;
    int fd;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DO(cuMemCreate(&handle, size, &prop, 0));
    DO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}
static void give(int to, int fd, struct gift *gift)
{
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = {.head = {.cmsg_len = 0}};
    struct iovec bytes = {gift, sizeof *gift};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.head.cmsg_level = SOL_SOCKET, control.head.cmsg_type = SCM_RIGHTS, control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    if (sendmsg(to, &message, 0) != sizeof *gift)
        exit(4);
}
static int take(int from, struct gift *gift)
{
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control;
    struct iovec bytes = {gift, sizeof *gift};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int fd;
    if (recvmsg(from, &message, 0) != sizeof *gift)
        exit(5);
    memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd;
}
static int import(int from, size_t size, int ipc)
{
    struct gift gift;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    int fd = take(from, &gift);
    start();
    DO(cuMemImportFromShareableHandle(&handle, (void *)(size_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    map(handle, size);
    if (ipc) {
        DO(cuIpcOpenMemHandle(&at, gift.ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        DO(cuIpcCloseMemHandle(at));
    }
    return write(from, "x", 1) != 1;
}
int main(int argc, char **argv)
{
    int one[2], two[2], status = 0, bad = 0;
    char byte, number[20];
    struct gift gift = {.ordinal = 1};
    CUdeviceptr memory;
    alarm(60);
    if (argc > 1)
        return import(atoi(argv[1]), SIZE, 1);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, one) || socketpair(AF_UNIX, SOCK_STREAM, 0, two))
        return 1;
    snprintf(number, sizeof number, "%d", one[1]);
    pid_t executes = fork();
    if (!executes) {
        execl(argv[0], argv[0], number, (char *)NULL);
        _exit(6);
    }
    pid_t forked = fork();
    if (!forked)
        return import(two[1], 2 * SIZE, 0);
    start();
    DO(cuMemAlloc(&memory, SIZE));
    DO(cuIpcGetMemHandle(&gift.ipc, memory));
    give(one[0], export(SIZE), &gift);
    bad |= read(one[0], &byte, 1) != 1;
    give(two[0], export(2 * SIZE), &gift);
    bad |= read(two[0], &byte, 1) != 1;
    pid_t late = fork();
    if (!late)
        exit(cuMemFree(memory) == CUDA_SUCCESS);
    printf("%ld %ld %ld %ld\n", (long)getpid(), (long)executes, (long)forked, (long)late);
    for (int i = 0; i < 3; i++)
        bad |= wait(&status) < 0 || status;
    return bad;
}
END
ok $? "the program is compiled"

cd "$work" || exit 1
view() { # STATUS ARGUMENTS
    local want=$1
    shift
    "$cuvmm" view "$@" >out 2>err
    [ $? = "$want" ]
}
says() { contains "$1" err; }

timeout 60 "$cuvmm" exec --trace=t.%p.jsonl ./family >pids 2>err && read -r parent executes forked late <pids &&
    [ "$(find . -name 't.*.jsonl' | wc -l)" = 4 ]
ok $? "each of four processes has a trace of its own"
heads() { grep -q "^{\"cuvmm-trace\":1,.*\"process\":$1,\"parent\":$2,$3\"program\":\".*family\"" "t.$1.jsonl"; }
heads "$parent" "[0-9]*" "" && heads "$executes" "$parent" "" && heads "$forked" "$parent" ""
ok $? "whose headers name it, also where it was forked before its first call" "t.$parent.jsonl"
heads "$late" "$parent" "\"fork_of\":$parent," && grep -q '"call":"mem_free"' "t.$late.jsonl" && ! grep -q mem_create "t.$late.jsonl"
ok $? "and what it is a fork of, where it goes on without an exec" "t.$late.jsonl"
ids() { grep -h "\"call\":\"$1\"" "t.$2.jsonl" | sed -n 's/.*"shared":"\([^"]*\)".*/\1/p'; }
first=$(ids mem_export_to_shareable_handle "$parent" | head -n 1)
[ -n "$first" ] && [ "$(ids mem_import_from_shareable_handle "$executes")" = "$first" ] &&
    [ -n "$(ids ipc_get_mem_handle "$parent")" ] && [ "$(ids ipc_open_mem_handle "$executes")" = "$(ids ipc_get_mem_handle "$parent")" ]
ok $? "exporter and importer have one number for a descriptor and for a handle of IPC" "t.$executes.jsonl"
"$cuvmm" replay "t.$parent.jsonl" >out 2>err
ok $? "a replay ignores times and places"

# How many links of a page are sure (0) or a guess (1); and all of them without that.
links() { grep -o '"links":\[\(\[[^][]*\],\?\)*\]' "$1" | grep -o '\[[^][]*\]' | grep -c ",$2\]\$"; }
ends() { grep -o '"links":\[\(\[[^][]*\],\?\)*\]' "$1" | grep -o '\[[^][]*\]' | sed 's/,[01]\]$//' | sort; }
view 0 t.*.jsonl -o page.html && grep -q "4 processes, [0-9]* calls" out && grep -q '"unmatched":0' page.html &&
    [ "$(links page.html 0)" = 3 ]
ok $? "one page of all, with three sure links"
view 0 "t.$late.jsonl" "t.$parent.jsonl" -o - && head -c 100000 out | grep -q '"links":\[\]'
ok $? "two that share nothing have none"

# As a driver's: its descriptors tell nothing, so only the handle of IPC is sure.
mkdir driver
for trace in t.*.jsonl; do
    sed '1s/"inner":\["sim"\]/"inner":["cuda"]/; /mem_\(import_from\|export_to\)_shareable/s/"shared":"[^"]*",//' "$trace" >"driver/$trace"
done
view 0 driver/*.jsonl -o driver.html && [ "$(links driver.html 1)" = 2 ] && [ "$(links driver.html 0)" = 1 ]
ok $? "without a common number size and order are a guess, which is marked" driver.html
[ -n "$(ends page.html)" ] && [ "$(ends page.html)" = "$(ends driver.html)" ]
ok $? "here the guess is right"

# The same in the binary form.
timeout 60 "$cuvmm" exec --trace=b.%p.vtrace ./family >pids 2>err && [ "$(find . -name 'b.*.vtrace' | wc -l)" = 4 ] &&
    view 0 b.*.vtrace -o binary.html && grep -q "4 processes, [0-9]* calls" out && [ "$(links binary.html 0)" = 3 ] &&
    grep -q '"unmatched":0' binary.html
ok $? "four traces in the binary form make one page with three sure links"
read -r binary _ <pids && "$cuvmm" export "b.$binary.vtrace" --format=lines >b.jsonl 2>err && grep -q '"frames":\[".*family' b.jsonl &&
    [ "$(grep -c '"time":' b.jsonl)" = "$(grep -c '"n":' b.jsonl)" ] && "$cuvmm" export b.jsonl --format=binary -o again.vtrace 2>err &&
    cmp "b.$binary.vtrace" again.vtrace
ok $? "with times, places and stacks, and the same bytes again from lines"

CUVMM_LAYERS=trace=plain.jsonl "$cuvmm" run "$here/view.vmm" --quiet >/dev/null 2>&1
view 2 "t.$parent.jsonl" plain.jsonl -o none.html && says "plain.jsonl does not name its process" && says "trace=FILE.%p" && [ ! -e none.html ]
ok $? "a trace that names no process cannot stand beside others"
sed '1s/"boot":"[^"]*"/"boot":"another"/; 1s/"host":"[^"]*"/"host":"node9"/' "t.$executes.jsonl" >other.jsonl
view 2 "t.$parent.jsonl" other.jsonl -o none.html && says "different machines" && says node9 && [ ! -e none.html ]
ok $? "nor can one of another machine"
cp "t.$parent.jsonl" again.jsonl
view 2 "t.$parent.jsonl" again.jsonl -o none.html && says "are the same trace, of process $parent" && [ ! -e none.html ]
ok $? "nor the same one twice"
view 2 "t.$parent.jsonl" absent.jsonl -o none.html && says "absent.jsonl: No such file" && [ ! -e none.html ]
ok $? "one that is not there"
head -c "$(($(wc -c <"t.$parent.jsonl") - 200))" "t.$parent.jsonl" >cut.jsonl
view 0 cut.jsonl "t.$executes.jsonl" -o cut.html && says "an incomplete line" && [ -s cut.html ]
ok $? "one that was cut off is shown as far as it goes"
for broken in 's/"process":[0-9]*/"process":"me"/' 's/"clock":[0-9]*/"clock":-1/' 's/"boot":"[^"]*",//'; do
    sed "1$broken" "t.$parent.jsonl" >broken.jsonl
    view 2 broken.jsonl -o none.html && says "broken.jsonl:1:" && [ ! -e none.html ]
    ok $? "a header that cannot be right: $broken"
done
for broken in 's/"time":[0-9]*/"time":"now"/' 's/"place":[0-9]*/"place":-4/' 's/"place":[0-9]*/"place":4294967297/' 's/"frames":\[[^]]*\]/"frames":7/' 's/"shared":"[^"]*"/"shared":"x"/'; do
    sed "2,\$$broken" "t.$parent.jsonl" >broken.jsonl
    view 0 broken.jsonl -o broken.html && says "broken.jsonl:" && says "the page shows the"
    ok $? "a line that cannot be right: $broken"
done
if "$cuvmm" exec --trace=t.%h.jsonl ./family >out 2>err; then status=0; else status=$?; fi
[ "$status" = 2 ] && says "%h" && says "%p for the number of the process"
ok $? "a letter that is none is refused before anything runs"

for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -c 'import selenium' 2>/dev/null && break
done
if [ -n "${CUVMM_RUN-}${CUVMM_SAN-}" ] || ! "$python" -c 'import selenium' 2>/dev/null || ! command -v chromedriver >/dev/null; then
    skip "the page in a browser" "no Python 3 with selenium, or no Chromium"
else
    "$python" "$here/check_family.py" page.html driver.html "$parent" "$executes" "$late" >out 2>err
    status=$?
    cat out >>err
    ok $status "the page in a browser"
fi
finish
