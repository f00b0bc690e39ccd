#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cuvmm exec`: a program of the driver's API runs as it is, its processes share one machine, of which nothing is left; statuses, signals
# and the environment; what cannot be run is told before anything runs. All waits are bounded.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
trap 'rm -rf "$work" "$machines"' EXIT
machines=$(in_memory "$work")
said=$work/err
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_EXPLAIN CUVMM_MACHINE LD_LIBRARY_PATH LD_PRELOAD \
    CUDA_VISIBLE_DEVICES ASAN_OPTIONS
export CUVMM_MACHINES=$machines
cuvmm=$build/bin/cuvmm

run() { # run STATUS ARGUMENT...: output in out and err
    local want=$1
    shift
    timeout 30 "$cuvmm" exec "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$want" ]
}
says() { contains "$1" "$work/err"; }
prints() { [ "$(cat "$work/out")" = "$1" ]; }
nothing_left() { [ -z "$(ls "$machines")" ]; }
compile() { # compile OUTPUT FLAG...: the program from standard input
    local output=$1
    shift
    "${CC-cc}" -std=gnu11 -Wall -Wextra -Werror -g -isystem api/abi -x c - -o "$output" "$@" -L"$build/lib" -lcuda >"$work/err" 2>&1
}

compile "$work/program" <<'END'
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
static void start(void)
{
    CUcontext context;
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
}
static CUmemGenericAllocationHandle create(void)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DO(cuMemCreate(&handle, SIZE, &prop, 0));
    return handle;
}
static CUdeviceptr map(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr at;
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DO(cuMemAddressReserve(&at, SIZE, 0, 0, 0));
    DO(cuMemMap(at, SIZE, 0, handle, 0));
    DO(cuMemSetAccess(at, SIZE, &desc, 1));
    return at;
}
static void send_fd(int to, int fd)
{
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = {.head = {.cmsg_len = 0}};
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.head.cmsg_level = SOL_SOCKET, control.head.cmsg_type = SCM_RIGHTS, control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    if (sendmsg(to, &message, 0) != 1)
        exit(4);
}
static int receive_fd(int from)
{
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control;
    char byte;
    struct iovec place = {&byte, 1};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int fd;
    if (recvmsg(from, &message, 0) != 1)
        exit(5);
    memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    CUmemGenericAllocationHandle handle;
    unsigned value = 0;
    int ends[2], fd, count;
    alarm(20);
    if (strcmp(what, "count") == 0) {
        CUresult result = cuInit(0);
        printf("%d %d\n", (int)result, !result && !cuDeviceGetCount(&count) ? count : -1);
        return 0;
    }
    if (strcmp(what, "share") == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            return 1;
        pid_t child = fork();
        if (child == 0) {
            start();
            DO(cuMemImportFromShareableHandle(&handle, (void *)(size_t)receive_fd(ends[1]), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
            DO(cuMemcpyDtoH(&value, map(handle), sizeof value));
            printf("%x\n", value);
            return fflush(stdout) != 0;
        }
        start();
        handle = create();
        CUdeviceptr at = map(handle);
        DO(cuMemsetD32(at, 0xc0ffee, 1));
        DO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        send_fd(ends[0], fd);
        return child > 0 && waitpid(child, &count, 0) == child ? WEXITSTATUS(count) : 1;
    }
    start();
    handle = create();
    if (strcmp(what, "die") == 0) {
        DO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        kill(getpid(), 9);
    }
    CUdeviceptr at = map(handle);
    DO(cuMemRelease(handle));
    DO(cuMemUnmap(at, SIZE));
    DO(cuMemAddressFree(at, SIZE));
    return 0;
}
END
ok $? 'a program of the driver API compiles'
program=$work/program

run 0 "$program" && [ ! -s "$work/out" ] && [ ! -s "$work/err" ] && nothing_left
ok $? 'it runs, and nothing is said or left'
run 0 "$program" share && prints c0ffee && nothing_left
ok $? 'two processes that pass a descriptor share a machine that was never named'
run 137 "$program" die && nothing_left
ok $? 'a program that is killed: status 137, and its machine is gone'
# shellcheck disable=SC2016 # the inner shell's own
run 3 sh -c '"$1" die; [ $? = 137 ] && "$1" && exit 3' sh "$program" && nothing_left
ok $? 'so is one whose children are killed; the status is its own'
# shellcheck disable=SC2016
run 143 sh -c 'kill -TERM $$' && run 0 true && run 1 false
ok $? 'statuses as a shell gives them'
# The program's own libcudart, of which both the loader and the program know the place: ours stands in front of it all the same.
mkdir "$work/theirs"
for major in 12 13; do
    version=${major}000
    [ $major = 13 ] || version=12090
    echo 'int cudaFree(void *p) { return p ? 1 : 777; } int cudaMalloc(void **p, long n) { return p && n ? 777 : 1; }' |
        "${CC-cc}" -shared -fPIC -x c - -o "$work/theirs/libcudart.so.$major" -Wl,-soname,libcudart.so.$major \
            -Wl,--version-script=<(echo "libcudart.so.$major { global: *; };")
    "${CC-cc}" -isystem api/abi -DCUDART_VERSION=$version -x c - -o "$work/runtime$major" -Wl,--disable-new-dtags,-rpath,"$work/theirs" \
        -x none "$work/theirs/libcudart.so.$major" -ldl 2>"$work/err" <<'END'
#include <cuda_runtime_api.h>
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *p = 0;
    if (argc > 1)
        dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    int result = cudaMalloc(&p, 4096) || cudaFree(p) ? 1 : 0;
    return result ? 1 : 0;
}
END
    run 0 "$work/runtime$major" && [ ! -s "$work/err" ] && nothing_left && run 0 "$work/runtime$major" "$work/theirs/libcudart.so.$major" &&
        run 1 --runtime=system "$work/runtime$major"
    ok $? "a program of CUDA $major gets this project's runtime, or with --runtime=system its own"
    # Opened by its path, as PyTorch and vLLM do: theirs returns 777.
    "${CC-cc}" -x c - -o "$work/opens" -ldl <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0, *p = 0;
    int (*allocate)(void **, unsigned long) = library ? (int (*)(void **, unsigned long))dlsym(library, "cudaMalloc") : 0;
    return allocate && allocate(&p, 4096) == 0 && p ? 0 : 9;
}
END
    run 0 "$work/opens" "$work/theirs/libcudart.so.$major" && run 0 "$work/opens" "/no/such/folder/libcudart.so.$major.0.99" &&
        run 9 --runtime=system "$work/opens" "$work/theirs/libcudart.so.$major" && run 9 "$work/opens" "$work/theirs/libcudart.so.11"
    ok $? "so does one that opens libcudart.so.$major by its path"
done
# What its own DT_RUNPATH leads to is found as before, though a library stands in front of dlopen.
mkdir "$work/found"
echo 'int found(void) { return 5; }' | "${CC-cc}" -shared -fPIC -x c - -o "$work/found/libonly-here.so"
"${CC-cc}" -x c - -o "$work/by-runpath" -Wl,--enable-new-dtags,-rpath,"$work/found" -ldl <<'END'
#include <dlfcn.h>
int main(void) { return dlopen("libonly-here.so", RTLD_NOW) ? 0 : 9; }
END
run 0 "$work/by-runpath"
ok $? "a program's DT_RUNPATH is that of the program"
run 2 --runtime=mine true && says '--runtime wants system, not "mine"'
ok $? 'another runtime is a wrong option'
printf 'exit 9\n' >"$work/plain" && chmod +x "$work/plain" && run 9 "$work/plain" && run 7 -- sh -c 'exit 7'
ok $? 'a script without a first line, and arguments behind --'

# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'trap "exit 41" TERM; trap "exit 42" INT; trap "exit 43" HUP' 'echo $$ >"$1"' 'while :; do read -r x <"$2"; done' \
    >"$work/waits"
chmod +x "$work/waits"
mkfifo "$work/fifo" "$work/pid"
for pair in TERM:41 HUP:43 KILL:137; do
    timeout 30 "$cuvmm" exec "$work/waits" "$work/pid" "$work/fifo" 2>"$work/err" &
    timeout=$!
    read -r -t 20 inner <>"$work/pid"
    command=$(sed 's/.*) . \([0-9]*\).*/\1/' "/proc/$inner/stat")
    if [ "${pair%:*}" = KILL ]; then kill -KILL "$inner"; else kill "-${pair%:*}" "$command"; fi
    wait "$timeout"
    [ $? = "${pair#*:}" ] && nothing_left
    ok $? "SIG${pair%:*} reaches the program, whose status is given"
done
# The command finds the end of the program and two signals at once: it takes one of them, and the other shall not end it.
timeout 30 "$cuvmm" exec "$work/waits" "$work/pid" "$work/fifo" 2>"$work/err" &
timeout=$!
read -r -t 20 inner <>"$work/pid"
command=$(sed 's/.*) . \([0-9]*\).*/\1/' "/proc/$inner/stat")
kill -STOP "$command" && kill -KILL "$inner" && kill -HUP "$command" && kill -TERM "$command" && kill -CONT "$command"
wait "$timeout"
[ $? = 137 ] && nothing_left
ok $? 'signals that come with the end of the program do not end the command'
# A shell's background job ignores SIGINT, and what is ignored stays so.
cat >"$work/interrupt.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int status, ends[2];
    char byte;
    if (argc == 2) { /* the program: says that it is there, and waits */
        if (write(1, "x", 1) != 1)
            return 1;
        alarm(20);
        for (;;)
            pause();
    }
    if (pipe(ends) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        dup2(ends[1], 1);
        execv(argv[1], argv + 1);
        _exit(1);
    }
    if (read(ends[0], &byte, 1) != 1)
        return 1;
    kill(child, SIGINT);
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}
END
"${CC-cc}" -o "$work/interrupt" "$work/interrupt.c" && timeout 30 "$work/interrupt" "$cuvmm" exec "$work/interrupt" wait 2>"$work/err"
[ $? = 130 ] && nothing_left
ok $? 'SIGINT reaches the program: status 130'

run 0 --machine=sim:h200x2 "$program" count && prints '0 2'
ok $? 'another machine'
CUVMM_SIM=sim:h200x2 run 0 "$program" count && prints '0 2' && CUVMM_BACKEND=cuda run 0 "$program" count && prints '0 1'
ok $? 'the one of the environment, if it is simulated'
CUDA_VISIBLE_DEVICES=1 run 0 --machine=sim:h200x2 "$program" count && prints '0 1' && CUDA_VISIBLE_DEVICES='' run 0 "$program" count && prints '100 -1'
ok $? 'CUDA_VISIBLE_DEVICES is passed through'
run 3 --fault=cuMemMap:1 "$program" && says 'cuMemMap(at, SIZE, 0, handle, 0): 2'
ok $? 'a call is made to fail'
run 3 '--fault=mem_map:2|mem_create:1:UNKNOWN' "$program" && says '999'
ok $? 'the first of several'
run 3 --fault=mem_map:1 --machine='fault=mem_create:7|sim:h100' "$program" && run 3 --fault=mem_map:7 --machine='fault=mem_create:1|sim:h100' "$program"
ok $? 'beside those of the machine'
CUVMM_LAYERS=fault=mem_create:1 run 3 --fault=mem_map:7 "$program" && CUVMM_SIM='fault=mem_create:1|sim' run 3 --fault=mem_map:7 "$program"
ok $? 'and of the environment'
run 3 --explain --fault=mem_map:1 "$program" && says 'made to fail' && says VMM-LEAK-HANDLE
ok $? 'explained'
# shellcheck disable=SC2016
(cd "$work" && run 0 --trace=calls.jsonl sh -c 'cd / && "$0"' "$program") && grep -q '"call":"mem_map"' "$work/calls.jsonl"
ok $? 'a trace lies where the command was given'

# shellcheck disable=SC2016
LD_LIBRARY_PATH=/a/b LD_PRELOAD='' ASAN_OPTIONS=x=1 CUVMM_MACHINE=mine run 0 sh -c 'echo "$LD_LIBRARY_PATH $ASAN_OPTIONS $CUVMM_MACHINE"' &&
    grep -q '^/.*lib:/a/b verify_asan_link_order=0:x=1 mine$' "$work/out"
ok $? 'what the environment has is kept'
printf 'int answer(void);\nint answer(void) { return 42; }\n' >"$work/own.c"
printf 'int answer(void) __attribute__((weak));\nint main(void) { return answer ? answer() : 1; }\n' >"$work/asks.c"
"${CC-cc}" -shared -fPIC -o "$work/own.so" "$work/own.c" && "${CC-cc}" -o "$work/asks" "$work/asks.c" && LD_PRELOAD=$work/own.so run 42 "$work/asks"
ok $? 'a preload of the program, too'
# shellcheck disable=SC2016
run 0 "$cuvmm" exec sh -c 'echo "$CUVMM_MACHINE"' && grep -qx 'exec-[0-9]*-[0-9a-f]*' "$work/out"
ok $? 'a command below a command has the same machine'

# shellcheck disable=SC2016
TRITON_PTXAS_PATH=/mine run 0 sh -c '"$TRITON_PTXAS_BLACKWELL_PATH" --version && echo "$TRITON_PTXAS_PATH"' &&
    grep -q 'release 13' "$work/out" && [ "$(tail -n 1 "$work/out")" = /mine ]
ok $? 'Triton gets an assembler that leaves PTX, unless the environment names one'

mkdir "$work/it's" && cp "$build"/lib/libcuda.so.1 "$build"/lib/libcudart.so.* "$build"/lib/libcuvmm-device-files.so "$work/it's"
CUVMM_LIBRARIES=$work/it\'s run 0 --print-env --machine=sim:h200x2 && [ ! -s "$work/err" ] &&
    [ "$(eval "$(cat "$work/out")" && "$program" count && "$program" share)" = $'0 2\nc0ffee' ]
ok $? '--print-env gives the same to a shell, quotes and all'
run 0 "$program" && nothing_left
ok $? 'and what it leaves the next machine takes away'

# The driver's files.
LC_ALL=C run 0 --machine=sim:h200x2 ls /dev/nvidia0 /dev/nvidia1 /dev/nvidiactl /proc/driver/nvidia/version && ! run 0 ls /dev/nvidia1
ok $? 'a driver has a file for each device'
run 0 cat /proc/driver/nvidia/version && grep -q '^NVRM version: .* Kernel Module  [0-9.]*  ' "$work/out"
ok $? 'and its version'
# shellcheck disable=SC2016
run 0 sh -c 'test -c /dev/nvidia0 && test -r /dev/nvidiactl && : <>/dev/nvidiactl && ls /dev | grep -cx "nvidia0\|nvidiactl"' && prints 2
ok $? 'which can be asked for, opened and listed'
LC_ALL=C run 0 ls -ld /proc/driver/nvidia/version /dev/null && [ ! -s "$work/err" ]
ok $? 'ls -l has nothing to say'
if printf 'int main(void) { return 0; }\n' | compile "$work/asan" -fsanitize=address 2>/dev/null; then
    run 0 "$work/asan" && [ ! -s "$work/err" ]
    ok $? 'a program with AddressSanitizer runs'
fi

# NVML: a child's memory is seen by its parent, which asks as PyTorch does, by dlopen.
compile "$work/nvml" -ldl <<'END'
#include <cuda.h>
#include <dlfcn.h>
#include <nvml.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    nvmlReturn_t (*init)(void) = dlsym(library, "nvmlInit_v2"), (*count)(unsigned *) = dlsym(library, "nvmlDeviceGetCount_v2");
    nvmlReturn_t (*handle)(unsigned, nvmlDevice_t *) = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    nvmlReturn_t (*memory)(nvmlDevice_t, nvmlMemory_t *) = dlsym(library, "nvmlDeviceGetMemoryInfo");
    nvmlDevice_t device;
    nvmlMemory_t info;
    unsigned devices;
    int ready[2], done[2];
    char c = 0;
    if (init() || count(&devices) || handle(1, &device) || pipe(ready) || pipe(done))
        return 1;
    if (fork() == 0) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
        CUmemGenericAllocationHandle made;
        alarm(20);
        if (cuInit(0) || cuMemCreate(&made, 6 << 20, &prop, 0)) /* CUDA_VISIBLE_DEVICES: its first device is the second one */
            _exit(1);
        _exit(write(ready[1], &c, 1) != 1 || read(done[0], &c, 1) != 1);
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1 || memory(device, &info) || write(done[1], &c, 1) != 1)
        return 2;
    wait(NULL);
    printf("%u devices, %llu in use\n", devices, info.used);
    return 0;
}
END
CUDA_VISIBLE_DEVICES=1 run 0 --machine=sim:h200x2 "$work/nvml" && prints '2 devices, 6291456 in use'
ok $? 'NVML tells of all devices, and of the memory of another process'

# What cannot be run, before anything is.
printf 'int main(void) { return 0; }\n' >"$work/static.c"
if "${CC-cc}" -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    run 126 "$work/static" && says 'statically linked' && says 'without -static'
    ok $? 'a static program'
fi
run 127 "$work/no" && says 'No such file' && run 127 no-such-program && says 'is ./NAME'
ok $? 'no such program'
run 126 "$work" && says 'is a folder' && run 126 "$work/static.c" && says 'chmod +x'
ok $? 'a folder, and no program'
printf '#!/no/such/interpreter\n' >"$work/lost" && chmod +x "$work/lost" && run 127 "$work/lost" && says 'interpreter'
ok $? 'a script whose interpreter is not there'
run 2 && says 'which program?' && run 2 --frobnicate ls && says 'come after its name'
ok $? 'no program, and an option that is none'
run 125 --machine=sim:h10O touch "$work/started" && says 'h10O' && run 2 --machine=h100 touch "$work/started" && says 'sim:MACHINE' &&
    run 125 --fault=mem_mup:1 touch "$work/started" && says 'mem_mup' &&
    run 125 --fault=mem_mup:1 --machine='fault=mem_map:1|sim' touch "$work/started" && says 'mem_mup' &&
    run 2 --trace="$work/no/folder" touch "$work/started" && says 'No such file' && run 2 --trace= touch "$work/started" && [ ! -e "$work/started" ]
ok $? 'machines, faults and traces that there are not: nothing is started'
CUVMM_LIBRARIES=/nowhere run 125 ls && says 'libcuda.so.1 is not beside this command'
ok $? 'a library that is not there'
CUVMM_SIM=sim:h10O run 125 ls && says 'nothing was started' && run 125 --print-env --machine=sim:h10O && [ ! -s "$work/out" ]
ok $? 'a machine of the environment that there is not'
nothing_left
ok $? 'nothing is left of any of it'
finish
