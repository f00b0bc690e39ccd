#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuvmm shell as a command: sessions saved as scripts succeed, sessions saved as C compile without a
# warning and do the same; the options; the driver as a backend; a terminal with history and
# completion; a shell without libedit; docs/shell.md. From make check: CUVMM_BUILD, CUVMM_SAN, CC.
. ci/test_head.sh
cuvmm=$build/bin/cuvmm
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE CUVMM_SIM CUVMM_EXPLAIN NO_COLOR
export XDG_STATE_HOME=$work/state

shell() { # shell LINE...: what they print, in $work/out
    printf '%s\n' "$@" | "$cuvmm" shell >"$work/out" 2>&1
}

libraries=(-pthread)
[ "$(uname -s)" != Linux ] || libraries+=(-ldl)

# ---- scripts of every kind, typed line by line and saved

compile() { # compile NAME API: with the shared library, which is linked in a fraction of the time
    local flags=(-std=c11 -O0 -Wall -Wextra -Wpedantic -Werror -o "$work/$1-$2" "$work/$1-$2.c")
    if [ "$2" = driver ]; then
        ${CC-cc} "${flags[@]}" -isystem api/abi -L"$build/lib" -lcuda
    else
        ${CC-cc} "${flags[@]}" -I"$build/include" -L"$build/lib" -lcuvmm "${libraries[@]}"
    fi >"$work/said" 2>&1
}

as_c() { # as_c NAME API MACHINE
    if [ -n "${CUVMM_SAN-}" ]; then
        skip "$1 as C for $2" "the libraries hold a sanitizer, the program does not"
        return
    fi
    compile "$1" "$2"
    ok $? "$1 as C for $2 compiles without a warning" "$work/said"
    CUVMM_SIM=$3,schedule=late LD_LIBRARY_PATH=$build/lib timeout 60 "$work/$1-$2" >"$work/said" 2>&1
    ok $? "$1 as C for $2 gets the session's answers" "$work/said"
}

typed() { # typed SCRIPT API...
    local name machine api
    name=$(basename "$1" .vmm)
    machine=$(sed -n 's/^backend \([^ ]*\).*/\1/p' "$1" | head -n 1)
    { cat "$1" && echo && echo "save $work/$name.vmm" && echo "save $work/$name-vmm.c --api=vmm" &&
        echo "save $work/$name-driver.c --api=driver"; } | "$cuvmm" shell >"$work/out" 2>&1
    "$cuvmm" run "$work/$name.vmm" >"$work/said" 2>&1
    ok $? "$name typed and saved runs to its end" "$work/said"
    shift
    for api; do
        as_c "$name" "$api" "${machine:-sim:h100}"
    done
}

[ -e "$build/include/cuvmm" ] || { mkdir -p "$build/include" && ln -sfn "$PWD/api" "$build/include/cuvmm"; }
for name in copies-async dma-buf events host-memory queries raw-calls retain sharing two-devices; do
    typed "conformance/corpus/scripts/$name.vmm" vmm driver
done
typed conformance/corpus/demo/03-unicast.vmm vmm driver
typed conformance/corpus/scripts/kernels.vmm vmm
typed conformance/corpus/scripts/graphs.vmm vmm
mkdir "$work/in"
sed 's|launch\.ptx|conformance/corpus/scripts/&|' conformance/corpus/scripts/launch.vmm >"$work/in/launch.vmm"
typed "$work/in/launch.vmm" vmm
# The rule book's examples that break rules of cuMemCreate and cuMemSetAccess, in one session.
{
    printf '%s\n' init 'c = context dev0' 'r = reserve 3gran' 'm = create 1gran dev0' 'map r 1gran m'
    awk '/^VMM-/ { of = /-(CREATE|ACCESS)-/ } /^    backend/ { of = 0 } { sub(/^-   . = create/, "-   create") }
        of && /^-   (h = call|create|access) / { print substr($0, 5) }' conformance/corpus/rulebook/{memory,access}.txt
    echo 'check access r dev0 rw'
} >"$work/in/broken.vmm"
typed "$work/in/broken.vmm" vmm driver
# The driver's kernels are functions of modules.
grep -v 'add-kernel\|AddKernel\|{f a}\|{m} {f}\|GetType f' conformance/corpus/scripts/graphs.vmm >"$work/in/nodes.vmm"
typed "$work/in/nodes.vmm" driver
sed '/^# The 64 bytes/,$d' conformance/corpus/scripts/fabric.vmm >"$work/in/fabric.vmm"
printf '%s\n' 'backend sim:h100,arena=auto' init 'c = context dev0' 'r = reserve 1hgran' 'h = create 1hgran host' 'map r 1hgran h' \
    'access r 1hgran numa0:rw dev0:rw' 'host-write r "by the host"' 'check bytes r "by the host"' 'fill r 2 0x2d' \
    'check host-bytes r "-- the host"' >"$work/in/host.vmm"
typed "$work/in/fabric.vmm" vmm driver
typed "$work/in/host.vmm" vmm driver
for name in multicast processes host-touch strict stops-at-refusal keep-going errors; do
    typed "conformance/corpus/scripts/$name.vmm"
done

# Names that C, the headers or the program itself already use.
{
    echo init
    for name in int main sys calls must holds block printf memcpy unix uint64_t NULL EOF stdout cuInit cuMemMap CUresult \
        vmm_open MiB OK answer read flags r0_size _x; do
        echo "$name = reserve 1gran"
        echo "check value $name.size == 1gran"
    done
    printf '%s\n' 'r0 = reserve 2gran' 'check value r0.end-r0 == r0.size' 'echo "quoted" \ and ??= %s */' '# */ /* ??/' 'c = context dev0' \
        'x = devices' 'x = meminfo' 'check value x <= x.total' 'h = create 2gran dev0' 'map r0 2gran h' 'access r0 2gran dev0:rw' 'fill16 r0 2gran 7' 'fill32 r0 2gran 7' 'x = query r0 MAPPING_SIZE' 'check value x == 2gran' 'check value x >= 0' \
        "save $work/names-vmm.c --api=vmm" "save $work/names-driver.c"
} | "$cuvmm" shell >"$work/out" 2>&1
ok $? 'names that C has for something else' "$work/out"
as_c names vmm sim:h100
as_c names driver sim:h100

toolkit=${CUDA_PATH-/usr/local/cuda}/include
if [ -e "$toolkit/cuda.h" ]; then
    for name in names raw-calls fabric; do
        ${CC-cc} -std=c11 -Wall -Wextra -Werror -isystem "$toolkit" -c -o "$work/object" "$work/$name-driver.c"
    done >"$work/said" 2>&1 && [ ! -s "$work/said" ]
    ok $? "programs compile against the toolkit's header too" "$work/said"
else
    skip "programs compile against the toolkit's header too" 'no toolkit'
fi

# A saved program checks its results and reports a different one.
if [ -z "${CUVMM_SAN-}" ]; then
    sed 's/OK(cuInit(0))/REFUSED(CUDA_ERROR_INVALID_VALUE, cuInit(0))/' "$work/names-driver.c" >"$work/wrong-driver.c"
    compile wrong driver && ! LD_LIBRARY_PATH=$build/lib "$work/wrong-driver" >"$work/said" 2>&1 && grep -q 'cuInit(0) answered CUDA_SUCCESS' "$work/said"
    ok $? 'an answer that is another one ends the program' "$work/said"
    CUVMM_SIM=sim:odd LD_LIBRARY_PATH=$build/lib "$work/names-driver" >"$work/said" 2>&1
    ok $? 'a size in granules is the same on a machine with others' "$work/said"
fi

# ---- the command line

shell init 'reserve 0' devices
ok $? 'a refused call is not a failure' "$work/out"
shell init 'reserve 3MB'
[ $? -eq 1 ] && grep -q 'type instead: reserve roundup(3MiB)' "$work/out"
ok $? 'a mistake is one, and what to type stands there' "$work/out"
echo init | "$cuvmm" shell --backend sim:nothing >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q 'cannot be opened' "$work/out"
ok $? 'a machine that is not there' "$work/out"
"$cuvmm" shell --frobnicate >"$work/out" 2>&1 </dev/null
[ $? -eq 2 ] && grep -q 'unknown option "--frobnicate"; lines are read from standard input' "$work/out"
ok $? 'an option that is not there' "$work/out"
"$cuvmm" shell --color=blue >"$work/out" 2>&1 </dev/null
[ $? -eq 2 ] && grep -q 'always, never or auto' "$work/out"
ok $? '--color=blue' "$work/out"
echo init | "$cuvmm" shell --color=always | grep -q $'\033\[32m'
ok $? '--color=always'
echo init | "$cuvmm" shell | grep -q $'\033'
[ $? -eq 1 ]
ok $? 'no colours without a terminal'
printf '%s\n' init devices undo "save $work/b.vmm" | "$cuvmm" shell --backend sim:h200x2 >"$work/out" 2>&1 &&
    printf 'backend "sim:h200x2"\ninit\n' | diff - "$work/b.vmm" >"$work/said"
ok $? '--backend is the first line of what is saved, and is not undone' "$work/said"
[ ! -e "$work/state" ]
ok $? 'input that was not typed is not remembered'

# ---- the driver as a backend: cuvmm's own library takes its place

if [ -z "${CUVMM_SAN-}" ]; then
    printf '%s\n' init 'c = context dev0' 'r = reserve 2gran' 'free r 1gran' undo "save $work/d-driver.c" "save $work/d.vmm" 'free r' |
        CUVMM_SIM=sim:h100 CUVMM_LIBCUDA=$build/lib/libcuda.so.1 "$cuvmm" shell --backend cuda >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "nothing is undone: the state of a driver cannot be restored" "$work/out" && grep -q 'cuMemAddressFree(r, 4MiB) -> CUDA_SUCCESS' "$work/out"
    ok $? 'on a driver nothing is undone, and everything is still there' "$work/out"
    grep -q '^expect INVALID_VALUE: free r 1gran$' "$work/d.vmm"
    ok $? 'a driver tells no rules, so none is expected' "$work/d.vmm"
    as_c d driver sim:h100
fi

# ---- a terminal

if ! python3 -c 'import pty' 2>/dev/null; then
    skip 'a terminal' 'needs python3 with pty'
elif ! nm "$build/obj/tools/shell/lines_edit.o" 2>/dev/null | grep -q el_gets; then
    skip 'a terminal' 'built without libedit'
else
    # libedit does not free the names of keys' functions.
    ASAN_OPTIONS=detect_leaks=0 timeout 100 python3 tools/shell/shell_terminal.py "$cuvmm" "$work" >"$work/said" 2>&1
    ok $? 'a terminal: completion, history from one time to the next, Ctrl-C, Ctrl-D' "$work/said"
    [ "$(find "$work/state/cuvmm/history" -perm 600)" = "$work/state/cuvmm/history" ]
    ok $? 'only its owner can read the history'
fi

# ---- built without libedit

if [ -n "${CUVMM_SAN-}" ]; then
    skip 'without libedit' 'an instrumented build'
else
    others=() # what the command's other parts need
    for library in jansson libdw; do
        "${PKG_CONFIG-pkg-config}" --exists $library 2>/dev/null && read -r -a flags <<<"$("${PKG_CONFIG-pkg-config}" --libs $library)" && others+=("${flags[@]}")
    done
    ${CC-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Itools/shell -Itools/text -Iapi -o "$work/cuvmm" tools/shell/lines_edit.c "$build/obj/tools/cli/main.o" \
        "$build/obj/tools.a" "$build/obj/conformance.a" "$build/obj/tools.a" "$build/lib/libcuvmm.a" -Wl,-S "${others[@]}" "${libraries[@]}" >"$work/said" 2>&1
    ok $? 'the command links without libedit' "$work/said"
    printf '%s\n' init 'r = reserve 2gran' undo | "$work/cuvmm" shell >"$work/out" 2>&1 && grep -q 'undone: r = reserve 2gran' "$work/out"
    ok $? 'and its shell reads plain lines' "$work/out"
fi

# ---- docs/shell.md

tools/shell/shell-page "$cuvmm" | diff docs/shell.md - >"$work/said"
ok $? 'the session of docs/shell.md is what the shell prints (make scripts-update)' "$work/said"
finish
