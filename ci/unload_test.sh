#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program loads the library, sets a handler of signals that goes on to the one before, and unloads the library: what its
# handler goes on to is still there. From make check: CUVMM_BUILD, CUVMM_SAN, CC.
set -u
build=${CUVMM_BUILD-build}
if [ -n "${CUVMM_SAN-}" ] || [ "$(uname -s)" != Linux ]; then
    echo "1..0 # SKIP a library with a sanitizer loads into no program without, and others link differently"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/unload.c" <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction before;
static int calls;

static void at_first(int number)
{
    _exit(number == SIGSEGV ? 6 : 7);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (++calls > 1)
        _exit(5); /* ours went on to this one, not to what was there before it */
    before.sa_sigaction(number, info, context);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_fault};
    signal(SIGSEGV, at_first);
    int (*start)(unsigned), (*open_system)(const char *, void **);
    void *system = NULL, *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 2;
    *(void **)&start = dlsym(library, "cuInit");
    *(void **)&open_system = dlsym(library, "vmm_open");
    if (open_system ? open_system("sim:h100", &system) : start ? start(0) : 1)
        return 3;
    sigaction(SIGSEGV, &action, &before);
    if (!(before.sa_flags & SA_SIGINFO))
        return 4;
    dlclose(library);
    volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    return 0;
}
END
number=0
for library in libcuvmm.so libcuda.so.1; do
    number=$((number + 1))
    status=1
    if ${CC-cc} -D_GNU_SOURCE -o "$folder/unload" "$folder/unload.c" -ldl; then
        (ulimit -c 0; exec "$folder/unload" "$(realpath "$build")/lib/$library") 2>"$folder/said"
        status=$?
    fi
    if [ "$status" = 6 ]; then
        echo "ok $number - $library stays, for handlers that go on to its own"
    else
        echo "not ok $number - $library stays, for handlers that go on to its own (status $status)"
    fi
done
echo "1..$number"
