#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cuvmm check`: runs the programs of conformance/programs/check and the rule book's pairs over a driver (the simulator's
# library in its place, below the checker) and on the simulator alone; then tests its options, and its messages when it cannot
# check.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_CHECK_LOG CUVMM_EXPLAIN
check=$build/bin/cuvmm

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok $points - $2"; else
        failures=$((failures + 1))
        echo "not ok $points - $2"
        tail -n 15 "$work/err" 2>/dev/null | sed 's/^/#   /'
    fi
}

run() { # run STATUS ARGUMENT...: output in out and err
    local want=$1
    shift
    "$check" check "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$want" ]
}

says() { # says TEXT: in what went to standard error
    contains "$1" "$work/err"
}

"${CC-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -g -isystem api/abi conformance/programs/check/*.c -o "$work/programs" \
    -L"$build/lib" -lcuda -ldl -lpthread 2>"$work/err"
point $? "the programs compile"
export LD_LIBRARY_PATH=$build/lib
# The pairs alone on the simulator are left to CI: there they are the rules' own tests once more, with the checker's reports.
pairs=1
[ "${CUVMM_TEST_SCALE:-100}" -ge 100 ] || pairs=0
for backend in driver sim; do
    [ $backend = driver ] || export CHECKED_PAIRS=$pairs
    ci/checked "$build" "$work/programs" $backend >"$work/tap" || failures=$((failures + 1))
    while IFS= read -r line; do
        case $line in
        "ok "*) points=$((points + 1)); echo "ok $points - ${line#*- }" ;;
        "not ok "*) points=$((points + 1)); echo "not ok $points - ${line#*- }" ;;
        "1.."*) ;;
        *) echo "$line" ;;
        esac
    done <"$work/tap"
done
unset CHECKED_PAIRS
[ "$(grep '^ok' "$work/tap" | grep -vc ': the pair of ')" -ge 45 ]
point $? "there are at least 45 programs"

on="--backend=driver"
run 0 $on "$work/programs" map_twice && says 'called by run_map_twice'
point $? "the call's place is named, a static function's too"
says 'nearest   mapping M1' && says 'call 7 (cuMemMap)' && says 'fix       cuMemUnmap'
point $? "the object in the way, its history and the fix"
says 'cuvmm check: 1 error, 0 hazards, 0 leaks (driver)'
point $? "and a sum"
run 9 $on --error-exitcode=9 "$work/programs" map_twice
point $? "an exit status for findings"
run 9 $on --error-exitcode 9 "$work/programs" leaks_handle && says '0 errors, 0 hazards, 1 leak '
point $? "leaks are findings"
run 0 $on --error-exitcode=9 "$work/programs" right_cycle && says '0 errors, 0 hazards, 0 leaks'
point $? "and none for none"
run 0 $on --leaks=no --error-exitcode=9 "$work/programs" leaks_mapping && says '0 leaks'
point $? "leaks can be left out"
run 0 $on "$work/programs" unordered_forms && says '0 errors, 25 hazards, 0 leaks (driver)' && says 'missing   cuEventRecord on S1 after call' && says 'first     cuMemsetD8Async ('
point $? "every form of a copy and of a fill is in the order of streams, with both places and what is missing"
run 0 $on --order=no --error-exitcode=9 "$work/programs" unordered_forms && says '0 errors, 0 hazards, 0 leaks'
point $? "which can be left out"
run 0 $on --quiet "$work/programs" right_hint && [ ! -s "$work/err" ]
point $? "quiet: not even the sum"
run 0 $on "$work/programs" right_hint && says 'VMM-RESERVE-HINT-NOT-TAKEN' && says '0 errors, 0 hazards, 0 leaks'
point $? "a note is reported and not counted"
run 9 --backend=sim --error-exitcode=9 "$work/programs" leaks_host_memory && says '[' && says 'leak VMM-LEAK-ALLOCATION: cuMemHostAlloc (call 4)' && says '0 errors, 0 hazards, 1 leak '
point $? "what one call made is one leak, of that call"
run 9 --backend=sim --error-exitcode=9 "$work/programs" free_host_memory_twice && says 'call 4 (cuMemHostAlloc), gone since' && says 'call 5 (cuMemFreeHost)'
point $? "memory that is freed twice is shown with its history"
run 0 --backend=sim "$work/programs" map_twice && [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' "$work/err")" -le 100 ]
point $? "no line is longer than 100 columns"
COLUMNS=70 run 0 --backend=sim "$work/programs" map_twice && [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' "$work/err")" -le 70 ]
point $? "or than the variable COLUMNS says"
run 9 --backend=sim --error-exitcode=9 "$work/programs" leaks_descriptor && says 'leak VMM-LEAK-DESCRIPTOR: cuMemExportToShareableHandle (call 6)' && says 'this process: descriptor' && says '0 errors, 0 hazards, 1 leak '
point $? "a descriptor that is left open counts"
run 0 --backend=sim:h100,schedule=late "$work/programs" unmap_copied && says 'here      cuMemcpyDtoHAsync, issued by call 12 on device 0' && ! says cuMemcpyDtoDAsync && says 'cuMemUnmap (call 13)'
point $? "work has the name and the number of the call that the program made"
run 0 $on --log="$work/log" "$work/programs" map_twice && [ ! -s "$work/err" ] && grep -q VMM-MAP-OVERLAP "$work/log" && grep -q '1 error,' "$work/log"
point $? "a log file gets all of it"
(cd "$work" && run 0 $on --log=log "$work/programs" right_cycle) && ! grep -q VMM "$work/log" && grep -q '0 errors' "$work/log"
point $? "which each run empties, by its own folder's name"
COLUMNS=200 run 0 $on "$work/programs" in_threads && says '1 error (200 times), 0 hazards, 0 leaks' && says 'cuvmm check: 200 times VMM-MAP-OVERLAP: cuMemMap in map_twice_by (' && [ "$(grep -c 'error VMM-MAP-OVERLAP' "$work/err")" = 1 ]
point $? "the same from the same place is reported once and counted"
run 139 $on "$work/programs" then_crashes && says 'error VMM-MAP-OVERLAP' && says 'signal 11' && says '1 of 1 processes did not exit cleanly' && says '1 error,'
point $? "a crash: what was found before, how it ended, what is not known"
for side in "$on" --backend=sim:h100; do
    run 139 $side "$work/programs" then_crashes_alone && says '1 of 1 processes did not exit cleanly; their leaks are unknown' && says '0 leaks'
    point $? "$side: the clean end of a forked child is not the end of its parent"
done
run 0 $on "$work/programs" map_released && says '1 error,'
point $? "what is reported before the driver's call is counted once"
# A driver that does not return from the call.
printf 'int cuMemMap(void);\nint cuMemMap(void) { return *(volatile int *)8; }\n' >"$work/deadly.c"
"${CC-cc}" -shared -fPIC -o "$work/deadly.so" "$work/deadly.c"
LD_PRELOAD=$work/deadly.so run 139 $on "$work/programs" map_released && says 'error VMM-MAP-HANDLE-STALE' && says 'called by run_map_released' && says '1 error,'
point $? "and reported although the driver does not come back"
# A driver shuts down before its program ends, and returns DEINITIALIZED to calls from exit handlers.
printf 'int cuDevicePrimaryCtxRelease_v2(int);\nint cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 4; }\n' >"$work/ended.c"
"${CC-cc}" -shared -fPIC -o "$work/ended.so" "$work/ended.c"
LD_PRELOAD=$work/ended.so run 0 $on --error-exitcode=9 "$work/programs" right_release_at_exit && grep -qx 'released: 4' "$work/out" &&
    says '0 errors, 0 hazards, 0 leaks' && ! says VMM-
point $? "what a driver that has ended answers is not a finding, and no difference"

# Nothing was checked.
cat >"$work/idle.c" <<'END'
#include <cuda.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    const void *table;
    CUuuid id = {{1}};
    int count;
    if (argc == 3) {
        cuInit(0);
        if (strcmp(argv[2], "runtime") == 0)
            cuGetExportTable(&table, &id);
        cuDeviceGetCount(&count);
    }
    return atoi(argv[1]);
}
END
"${CC-cc}" -isystem api/abi -o "$work/idle" "$work/idle.c" -L"$build/lib" -lcuda
nothing() { # nothing WHY SIDE STATUS: nothing but the one line with the reason
    [ "$(cat "$work/err")" = "cuvmm check: nothing was checked: $1 ($2; the program's own exit status is $3)" ]
}
for side in driver sim; do
    side_name=${side/#sim/simulator}
    run 125 --backend=$side "$work/idle" 3 && nothing "no call of the driver was seen" "$side_name" 3
    point $? "$side: a program that calls no driver: 125, and its own status is reported"
    run 125 --backend=$side --error-exitcode=9 -q "$work/idle" 0 && nothing "no call of the driver was seen" "$side_name" 0
    point $? "$side: in every case, and also to those who want findings alone"
    run 125 --backend=$side "$work/idle" 0 questions && nothing "the program made no context and no memory" "$side_name" 0
    point $? "$side: nor does one that only asks what devices there are"
done
CUVMM_SIM=sim:h10O run 125 --backend=sim "$work/programs" no_init && says "nothing was checked: the machine cannot be had: "
point $? "a machine of the environment that there is not"
run 125 --backend=sim "$work/idle" 3 runtime && nothing "a program of the CUDA runtime stops at cuGetExportTable, which NVIDIA's runtime needs; link it with -cudart shared (docs/runtime.md), or check it on a machine with a driver" simulator 3
point $? "a program of the CUDA runtime gets that as the reason"
run 0 --backend=sim sh -c "$work/idle 0 runtime; $work/programs right_cycle" && says 'some processes were not checked: a program of the CUDA runtime' && says '0 errors, 0 hazards, 0 leaks (simulator)'
point $? "also where another process was checked"
LD_LIBRARY_PATH=$build/lib "$work/idle" 0 runtime 2>"$work/err" && [ "$(grep -c 'a program of the CUDA runtime stops here' "$work/err")" = 1 ]
point $? "and without the checker, with no variable set"
# NVRTC has that runtime inside, asks for the same table, and compiles all the same.
printf 'int cuGetExportTable(const void **, const void *);\n__attribute__((constructor)) static void ask(void)\n{\n    static const char id[16];\n    const void *table;\n    cuGetExportTable(&table, id);\n}\n' >"$work/ask.c"
"${CC-cc}" -shared -fPIC -o "$work/libnvrtc.so.13" "$work/ask.c" -L"$build/lib" -lcuda
LD_PRELOAD=$work/libnvrtc.so.13 LD_LIBRARY_PATH=$build/lib "$work/idle" 0 questions 2>"$work/err" && [ ! -s "$work/err" ] &&
    LD_PRELOAD=$work/libnvrtc.so.13 LD_LIBRARY_PATH=$build/lib "$work/idle" 0 runtime 2>"$work/err" &&
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q "stops here: .*idle has NVIDIA's runtime linked" "$work/err"
point $? "nor is a program that has NVRTC load said to stop: only one that stops later"
LD_PRELOAD=$build/lib/libcuvmm-check.so "$work/idle" 0 questions 2>"$work/err" && says 'cuvmm check: nothing was checked: the program made no context and no memory'
point $? "the library preloaded by hand prints it, too"
run 125 --backend=sim:h10O "$work/programs" right_cycle && says 'nothing was checked: the machine sim:h10O cannot be had: ' && [ "$(wc -l <"$work/err")" = 1 ]
point $? "a machine with a typo: 125 and one line"
: >"$work/started"
run 125 --backend=sim:h100,schedule=never sh -c "rm $work/started" && [ -e "$work/started" ]
point $? "and nothing is started"
run 125 $on --log="$work/log" "$work/idle" 0 && grep -q 'nothing was checked' "$work/log"
point $? "a log gets the line"
run 3 $on sh -c "$work/programs right_cycle; exit 3" && says '0 errors'
point $? "the program's own status"
run 125 $on -- "$work/programs" --list && grep -q map_twice "$work/out"
point $? "arguments behind the program are the program's"
run 0 --backend=sim:h200x2 "$work/programs" map_twice && says 'VMM-MAP-OVERLAP' && says '(simulator)'
point $? "another simulated machine"
(unset LD_LIBRARY_PATH; run 0 "$work/programs" map_twice) && says 'VMM-MAP-OVERLAP'
point $? "without an option, whatever is here"
LD_PRELOAD=$build/lib/libcuvmm-check.so "$work/programs" map_twice 2>"$work/err" && says 'VMM-MAP-OVERLAP' && says 'cuvmm check: 1 error, 0 hazards, 0 leaks'
point $? "the library preloaded by hand sums up for itself"
run 0 $on sh -c "$work/programs map_twice; $work/programs leaks_handle" && says '1 error, 0 hazards, 1 leak '
point $? "several processes, one sum"

printf 'int main(void) { return 0; }\n' >"$work/static.c"
if "${CC-cc}" -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    run 2 "$work/static" && says 'statically linked'
    point $? "a static program is refused"
fi
run 2 "$work/nothing" && says 'No such file'
point $? "no such file"
run 2 no-such-program-here && says 'no such program in PATH'
point $? "no such program"
run 2 "$work" && says 'is a folder'
point $? "a folder"
run 2 "$work/static.c" && says 'is not executable'
point $? "no program at all"
cp "$work/programs" "$work/setuid" && chmod g+s,u+s "$work/setuid" && chown 65534:65534 "$work/setuid" 2>/dev/null && chmod u+s "$work/setuid"
if [ -u "$work/setuid" ] && [ "$(stat -c %u "$work/setuid")" != "$(id -u)" ]; then
    run 2 "$work/setuid" && says 'is setuid'
    point $? "a setuid program"
fi
head -c 18 "$work/programs" >"$work/other" && printf '\x03\x00' >>"$work/other" && tail -c +21 "$work/programs" >>"$work/other" && chmod +x "$work/other"
run 2 "$work/other" && says 'another kind of machine'
point $? "a program of another machine"
CUVMM_LIBRARIES=/nowhere run 2 $on "$work/programs" --list && says 'libcuvmm-check.so is not beside this command'
point $? "a library that is not there"
run 2 --log="$work/no/such/folder" "$work/programs" --list && says 'No such file'
point $? "a log that cannot be written"
mkdir "$work/full"
# shellcheck disable=SC2016 # for the inner shell
if unshare -m sh -c 'mount -t tmpfs -o size=4k none "$0" && ! head -c 8192 /dev/zero >"$0/fill"' "$work/full" 2>/dev/null; then
    unshare -m sh -c 'mount -t tmpfs -o size=4k none "$0"; head -c 8192 /dev/zero >"$0/fill"; TMPDIR=$0 exec "$@"' "$work/full" \
        "$check" check --backend=sim "$work/programs" map_twice >"$work/out" 2>"$work/err"
    [ $? = 2 ] && says 'no file for the counts in TMPDIR, /dev/shm or /tmp: No space left on device'
    point $? "a full TMPDIR is reported, and ends no process by a signal"
else
    echo "# a TMPDIR that is full: no file system can be mounted here"
fi
# With coverage counters the program writes larger files than that.
# shellcheck disable=SC2016 # for the inner shell
[ "${CUVMM_SAN-}" = 1 ] || { (ulimit -f 1 && run 0 $on --log="$work/short" sh -c '"$0" map_twice && "$0" write_read_only' "$work/programs") && [ "$(stat -c %s "$work/short")" = 1024 ]; }
point $? "a log that may not become longer ends neither the program nor the command"
for wrong in --error-exitcode=256 --error-exitcode=x --error-exitcode= --leaks=maybe --backend=gpu --frobnicate --log=; do
    run 2 "$wrong" "$work/programs" && says 'cuvmm check: ' && says 'cuvmm help check'
    point $? "$wrong is refused"
done
run 2 && says 'which program?'
point $? "no program"
finish
