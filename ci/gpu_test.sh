#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The parts of the run on a driver, tested without one: a process that dies costs one point, failures are shown with
# their notes, a stale waiver fails, answers that vary between machines are removed from a trace.
set -u
build=${CUVMM_BUILD-build}
folder=$(mktemp -d "${TMPDIR:-.}/gpu_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
points=0
failures=0

same() { # same NAME GOT EXPECTED
    points=$((points + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $points - $1"
    else
        failures=$((failures + 1))
        echo "not ok $points - $1"
        printf 'got:\n%s\nexpected:\n%s\n' "$2" "$3" | sed 's/^/#   /'
    fi
}

has() { # has NAME TEXT PATTERN
    points=$((points + 1))
    if printf '%s\n' "$2" | grep -q -- "$3"; then
        echo "ok $points - $1"
    else
        failures=$((failures + 1))
        echo "not ok $points - $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
    fi
}

# Frameworks under the checker: rule violations fail, except for known mistakes and imported memory.
"${CC-cc}" -O1 -isystem api/abi conformance/programs/check/*.c -o "$folder/programs" -L"$build/lib" -lcuda -ldl -lpthread
frameworks() { # frameworks PROGRAM NAME...: as if each framework were that program of conformance/programs/check
    local program=$1
    shift
    # shellcheck disable=SC2016 # the argument of the script that is written
    printf '#!/bin/sh\n[ "$1" = -c ] || exec %s/programs %s\n' "$folder" "$program" >"$folder/python"
    printf '#!/bin/sh\necho "GPU 0: one"\n' >"$folder/nvidia-smi"
    chmod +x "$folder/python" "$folder/nvidia-smi"
    PATH=$folder:$PATH LD_LIBRARY_PATH=$build/lib FRAMEWORKS_PYTHON=$folder/python FRAMEWORKS_OUT=$folder/frameworks \
        ci/gpu-frameworks "$build" "$@" | sed -e 's/, in [0-9]* s$//' -e 's/ after [0-9]* s$//' -e '/^#/d'
}
same "a framework without a finding, and one that wants another device" "$(frameworks right_cycle torch nccl)" \
    "ok 1 - torch: nothing but its own is found
ok 2 - nccl # SKIP needs 2 devices
1..2"
same "a mistake fails the framework that makes it" "$(frameworks unmap_twice torch)" "not ok 1 - torch: status 0
1..1"
same "unless it is known to be its own" "$(frameworks unmap_twice jax-vmm)" "ok 1 - jax-vmm: nothing but its own is found
1..1"
same "where nothing was checked nothing was shown" "$(frameworks --list cupy)" "not ok 1 - cupy: status 125
1..1"

# A suite of three tests, of which the second kills its process.
cat >"$folder/mortal" <<'END'
#!/bin/sh
case "$*" in
*--after*second) echo "# test third"; echo "# a note"; echo "not ok 1 - third"; echo "1..1" ;;
*) echo "# test first"; echo "ok 1 - first"; echo "# test second"; kill -SEGV $$ ;;
esac
END
chmod +x "$folder/mortal"
same 'the run goes on behind a test that dies' "$(ci/gpu-suite "$folder/mortal" 2>/dev/null)" 'ok - first
not ok - second takes the process along, status 139
# test third
# a note
not ok - third
1..3'

mkdir "$folder/tap"
ci/gpu-suite "$folder/mortal" >"$folder/tap/a.tap" 2>/dev/null
printf '%s\n' 'ok 1 - a # SKIP no reason' 'not ok 2 - b # TODO WAIVER-X' '1..2' >"$folder/tap/b.tap"
said=$(ci/skips "$folder/tap")
has 'what failed is shown' "$said" '^  not ok - third'
has 'with its notes' "$said" '^  # a note'
has 'passes are counted' "$said" '^ *1 passed$'
has 'failures are counted' "$said" '^ *2 failed$'
has 'skips are counted by reason' "$said" '^ *1 skipped: no reason$'
has 'waivers are reported' "$said" '^ *1 waived: WAIVER-X$'

said=$("$build/bin/conformance" --as-driver --backend sim:h100 --run unmap_over_holes)
has 'a rule that a driver lets pass is waived' "$said" '^not ok .* # TODO WAIVER-580-UNMAP-HOLE'
said=$("$build/bin/conformance" --as-driver --backend sim:h100,strict --run unmap_over_holes)
has 'a rule that holds after all makes the waiver stale' "$said" '^not ok .*stale waiver WAIVER-580-UNMAP-HOLE'
said=$("$build/bin/conformance" --as-driver --backend sim:h100 --after unmap_over_holes --announce 60 | grep '^# test ' | head -n 1)
same 'the suite begins behind the test that is named' "$said" '# test unmap_several_side_by_side'

printf '%s\n' '{"call":"mem_get_info","result":"CUDA_SUCCESS","out":{"free":"0x1"}}' \
    '{"call":"memcpy_dtoh","out":{"dst":{"hex":"00"}}}' '{"call":"launch","args":{"kernel":9,"args":["0x1","0x2","0x3","0x0","0x4"]}}' \
    '{"call":"memcpy_dtoh","out":{"dst":{"hex":"00"}}}' '{"call":"memcpy_dtoh","out":{"dst":{"hex":"01"}}}' >"$folder/trace"
same 'answers of this machine alone are taken out' "$(ci/comparable "$folder/trace")" '{"call":"mem_get_info","result":"CUDA_SUCCESS"}
{"call":"memcpy_dtoh","out":{"dst":{"hex":"00"}}}
{"call":"launch","args":{"kernel":9,"args":["0x1","0x2","0x3","0x0","0x4"]}}
{"call":"memcpy_dtoh"}
{"call":"memcpy_dtoh","out":{"dst":{"hex":"01"}}}'

# The examples: as on the simulator, without what they need, with other words, and where they cannot even begin.
same 'an example that says what it is to say passes' "$(GPU_BACKEND=sim:odd ci/gpu-examples "$build")" 'ok 1 - example share
ok 2 - example share host
1..2'
said=$(GPU_BACKEND=sim:min ci/gpu-examples "$build")
has 'one that the machine has nothing for is skipped' "$said" '^ok 1 - example share # SKIP this machine cannot share such memory'
mkdir "$folder/other"
sed 's/0x22, 0/0x22, 1/' conformance/programs/examples/share.out >"$folder/other/share.out"
said=$(EXAMPLES_OUT=$folder/other GPU_BACKEND=sim:h100 ci/gpu-examples "$build")
has 'other words are a failure' "$said" '^not ok 1 - example share$'
has 'which shows them' "$said" '^#   > exporter: reads 0x22, 0 bytes are wrong'
said=$(GPU_BACKEND=nonsense ci/gpu-examples "$build")
has 'an example that fails is a failure' "$said" '^not ok 1 - example share$'
has 'with what it said' "$said" 'no backend "nonsense"'

# The lessons: those that a driver can, on the simulator and on the CUDA backend; one that goes wrong there.
said=$(GPU_BACKEND=sim:h100,arena=auto ci/gpu-lessons "$build")
has 'the lessons run' "$said" '^ok 1 - lesson 01-address-and-memory$'
has 'all of them well' "$(printf '%s\n' "$said" | grep -c '^not ok')" '^0$'
has 'what one device cannot is skipped with its reason' "$said" '^ok [0-9]* - lesson 08-[a-z-]* # SKIP .'
mkdir "$folder/lessons"
printf '%s\n' '#@ title: A' '#@ driver: yes' init 'check value 1 == 2' >"$folder/lessons/01-a.vmm"
printf '%s\n' '#@ title: B' init >"$folder/lessons/02-b.vmm"
said=$(LESSONS=$folder/lessons GPU_BACKEND=sim:h100 ci/gpu-lessons "$build")
has 'a lesson that fails is a failure' "$said" '^not ok 1 - lesson 01-a$'
has 'with the reason' "$said" '^#.*01-a.vmm:4: '
has 'one that says nothing of drivers is a failure, too' "$said" '^not ok 2 - lesson 02-b$'
if [ -z "${CUVMM_SAN-}" ]; then
    said=$(CUVMM_SIM=sim:h100,machine=gpu-lessons-$$ CUVMM_KERNELS=cuvmm GPU_BACKEND=cuda:$build/lib/libcuda.so.1 ci/gpu-lessons "$build")
    has 'the lessons run on the CUDA backend' "$said" '^ok 1 - lesson 01-address-and-memory$'
    has 'well, too' "$(printf '%s\n' "$said" | grep -c '^not ok')" '^0$'
fi

# The exercises: all points of all solutions, and a grader that finds no machine.
if [ -z "${CUVMM_SAN-}" ]; then
    said=$(GPU_BACKEND=sim:h200x2 ci/gpu-exercises "$build")
    same 'the solutions of the exercises are graded' "$? $(printf '%s\n' "$said" | grep -c '^ok .* errors: nothing is left')" '0 7'
    said=$(GPU_BACKEND=sim:none ci/gpu-exercises "$build")
    has 'a machine that is not there is a failure' "$said" '^not ok .* 1-vector: '
fi

# The programs under `cuvmm check`, with the simulator's library in the driver's place. It cannot hold a sanitizer.
if [ -z "${CUVMM_SAN-}" ]; then
    said=$(GPU_BACKEND=sim:h100 CHECKED_ROUNDS=200 ci/gpu-checked "$build")
    has 'the programs under the checker run' "$said" '^ok [0-9]* - driver: map_twice finds VMM-MAP-OVERLAP'
    has 'all of them well' "$(printf '%s\n' "$said" | grep -c '^not ok')" '^0$'
    has 'and its price is printed' "$said" '^ok [0-9]* - a loop .* times: .* us a round without'
    said=$(GPU_BACKEND=sim:h100 CHECKED_ROUNDS=1 CC=false ci/gpu-checked "$build")
    has 'what does not compile is not a success' "$said" '^Bail out!'
fi
echo "1..$points"
[ "$failures" = 0 ]
