#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where an output changed on purpose: make examples-update, and read what it changed.
#
# `make install` into an empty folder provides everything that a user's program needs: header, libraries, pkg-config file,
# command and its pages; the examples compile and run with it as they are printed in README.md and docs/library.md. From
# make check: CUVMM_BUILD, CUVMM_SAN (a sanitizer or coverage build, which a user would not install), CC.
. ci/test_head.sh
own_system
compiler=${CC-cc}
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build is not installed"
    exit 0
fi
if ! command -v pkg-config >/dev/null; then
    if [ -n "${CI-}" ]; then
        echo "Bail out! CI without pkg-config: ci/setup did not do its work"
        exit 255
    fi
    echo "1..0 # SKIP needs pkg-config (ci/setup)"
    exit 0
fi
root=$(mktemp -d "${TMPDIR:-.}/install_test.XXXXXX")
root=$(cd "$root" && pwd)
trap 'rm -rf "$root"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL CUVMM_BACKEND CUVMM_LAYERS
said=$root/said # what `ok` shows of a failure

run() {
    "$@" >"$root/said" 2>&1
}

warnings=(-Wall -Wextra -Wpedantic -Werror)
dest=$root/dest
run make --no-print-directory BUILD="$build" CC="$compiler" DESTDIR="$dest" PREFIX=/opt/cuvmm install
ok $? 'make install into DESTDIR'
lib=$dest/opt/cuvmm/lib
(cd "$dest" && find . ! -type d ! -path './opt/cuvmm/share/cuvmm/exercises/*' ! -path '*/recording/*' ! -path '*/recordings/*' | sed 's/[0-9][0-9.]*$/N/' | LC_ALL=C sort) >"$root/said"
documents=(docs/*.md)
parts=(api/vmm/*.h)
optional=("$build"/lib/libcuvmm-optional.so)
[ -e "${optional[0]}" ] || optional=()
examples=(conformance/programs/examples/*.c conformance/programs/unmodified/kernel_template.c)
printf './opt/cuvmm/%s\n' bin/cuvmm include/cuvmm/abi/cuda.h include/cuvmm/abi/cuda_functions.h include/cuvmm/abi/cuda_graph.h include/cuvmm/abi/cuda_array.h \
    include/cuvmm/abi/cuda_values.def include/cuvmm/abi/cuda_runtime_api.h include/cuvmm/abi/runtime/values.def include/cuvmm/abi/nvml.h include/cuvmm/abi/nvml_functions.h include/cuvmm/abi/nvml_values.def \
    include/cuvmm/abi/runtime/{array,code,device,graph,memory,stream}{,_types}.h include/cuvmm/results.def include/cuvmm/vmm.h "${parts[@]/#api/include/cuvmm}" include/cuvmm/vmm_fd.h include/cuvmm/vmm_kernel.h include/cuvmm/cuvmm_mark.h \
    lib/cuvmm/libcuda.so lib/cuvmm/libcuda.so.N lib/cuvmm/libcudart.so lib/cuvmm/libcudart.so.N lib/cuvmm/libcudart.so.N lib/cuvmm/libnvidia-ml.so lib/cuvmm/libnvidia-ml.so.N lib/cuvmm/libcuvmm-check.so lib/cuvmm/libcuvmm-device-files.so "${optional[@]/#*\//lib/cuvmm/}" lib/cuvmm/ptxas lib/libcuvmm-sim.a lib/libcuvmm.a lib/libcuvmm.so \
    lib/libcuvmm.so.N lib/libcuvmm.so.N lib/pkgconfig/cuvmm.pc lib/cmake/cuvmm/cuvmm-{config,config-version,targets,test}.cmake \
    share/bash-completion/completions/cuvmm share/zsh/site-functions/_cuvmm share/fish/vendor_completions.d/cuvmm.fish \
    share/cuvmm/tap.c share/cuvmm/tap.h \
    share/man/man1/cuvmm.N share/man/man3/libcuvmm.N share/man/man7/cuvmm-libcuda.N \
    share/doc/cuvmm/README.md share/doc/cuvmm/CHANGELOG.md share/doc/cuvmm/LICENSE share/doc/cuvmm/rulebook.html "${documents[@]/#/share/doc/cuvmm/}" \
    "${examples[@]/#*\//share/doc/cuvmm/examples/}" | LC_ALL=C sort | diff - "$root/said" >"$root/diff"
status=$?
cat "$root/diff" >>"$root/said"
ok $status 'it puts there exactly what it says'

run "$dest/opt/cuvmm/bin/cuvmm" record --machine=sim:h100 --only=first --output="$root/one.tar.gz" &&
    run "$dest/opt/cuvmm/bin/cuvmm" diff-recordings "$root/one.tar.gz" "$root/one.tar.gz" && grep -q 'first .* 0 differ' "$root/said"
ok $? 'the installed command records and compares'
run "$lib/cuvmm/ptxas" --version && grep -q 'in the place of ptxas' "$root/said"
ok $? 'and is there as ptxas'
export PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
read -r -a cflags <<<"$(pkg-config --cflags cuvmm)"
read -r -a libs <<<"$(pkg-config --libs cuvmm)"
run test "${#cflags[@]}" -gt 0 -a "${#libs[@]}" -gt 1
ok $? 'pkg-config knows it'
run test "$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=driverdir cuvmm)" = /opt/cuvmm/lib/cuvmm -a -e "$lib/cuvmm/libcuda.so.1"
ok $? 'and the folder of libcuda.so.1, as driverdir'
version=$(pkg-config --modversion cuvmm)
run test "$version" = "$(basename "$(readlink -f "$lib/libcuvmm.so")" | sed 's/libcuvmm.so.//')"
ok $? 'its version is that of the library'
readelf -d "$lib/libcuvmm.so" >"$root/said" 2>&1
grep -q "soname: \[libcuvmm.so.${version%%.*}\]" "$root/said"
ok $? 'the library has a soname'
! grep -i 'NEEDED.*\(cuda\|nvidia\|jansson\|edit\)' "$root/said"
ok $? 'and needs neither CUDA nor anything of the tools'
nm -D --defined-only "$lib/libcuvmm.so" | awk '$3 !~ /^vmm_|^_init$|^_fini$/ && $2 != "A"' >"$root/said"
run_status=0
[ -s "$root/said" ] && run_status=1
ok $run_status 'it exports names that begin with vmm_ and no others'

grep -h '@[A-Z_]*@' "$dest"/opt/cuvmm/share/man/man?/* >"$root/said"
[ ! -s "$root/said" ] && grep -q "\"cuvmm $version\"" "$dest/opt/cuvmm/share/man/man1/cuvmm.1" &&
    grep -q "\"cuvmm $version\"" "$dest/opt/cuvmm/share/man/man3/libcuvmm.3" &&
    grep -q "LD_LIBRARY_PATH=/opt/cuvmm/lib/cuvmm " "$dest/opt/cuvmm/share/man/man7/cuvmm-libcuda.7"
ok $? 'the manual pages name the version and the place'
tr -cs 'A-Za-z0-9_' '\n' <"$dest/opt/cuvmm/share/man/man3/libcuvmm.3" | LC_ALL=C sort -u >"$root/words"
nm -D --defined-only "$lib/libcuvmm.so" | awk '$2 != "A" && $3 !~ /^_(init|fini)$/ { print $3 }' | LC_ALL=C sort | comm -23 - "$root/words" |
    sed 's/^/libcuvmm.3 does not name /' >"$root/said"
[ ! -s "$root/said" ]
ok $? 'and every function'

# program NAME SOURCE COMPILER...: compiles against the installed tree, runs with the shared library.
program() {
    local name=$1 source=$2
    shift 2
    run "$@" "${warnings[@]}" "${cflags[@]}" -o "$root/$name" "$source" "${libs[@]}" &&
        LD_LIBRARY_PATH=$lib "$root/$name" >"$root/$name.out" 2>"$root/said"
}

for example in conformance/programs/examples/*.c; do
    name=$(basename "$example" .c)
    program "$name" "$example" "$compiler" -std=c11
    ok $? "example $name compiles without a warning and runs"
    diff "${example%.c}.out" "$root/$name.out" >"$root/said"
    ok $? "example $name prints what ${example%.c}.out says"
done

printf 'base = gb200x4\ndevices = 8\n' >"$root/eight.profile"
LD_LIBRARY_PATH=$lib run "$root/all_reduce" "sim:$root/eight.profile" 5001
ok $? 'example all_reduce is exact with eight devices as well'

run "$compiler" -std=c11 "${warnings[@]}" "${cflags[@]}" -o "$root/static" conformance/programs/examples/first.c "$lib/libcuvmm.a" -pthread
ok $? 'the static library links'
"$root/static" >"$root/static.out" 2>"$root/said" && diff "$root/static.out" "$root/first.out" >"$root/said"
ok $? 'and does the same'

cat >"$root/plus.cc" <<'END'
#include <cuvmm/vmm.h>
#include <cstring>
int main()
{
    vmm_system *sys = nullptr;
    vmm_mem_allocation_prop prop;
    uint64_t size = 0;
    std::memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    if (vmm_open("sim:odd", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        return 1;
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    vmm_close(sys);
    return result == VMM_SUCCESS && size == 65536 ? 0 : 2;
}
END
cat >"$root/single_thread.c" <<'END'
#include <cuvmm/vmm_fd.h>
int main(void)
{
    int ends[2], fd = -1;
    char got = 0;
    if (vmm_fd_pair(ends) != VMM_SUCCESS || vmm_fd_send(ends[0], ends[0], "x", 1, 0) != VMM_SUCCESS)
        return 1;
    return vmm_fd_receive(ends[1], &fd, &got, 1, 0) != VMM_SUCCESS || fd < 0 || got != 'x';
}
END
program alone "$root/single_thread.c" "$compiler" -std=c11
ok $? 'vmm_fd.h serves alone'
case $compiler in
*clang*) plus=clang++ ;;
*) plus=g++ ;;
esac
if command -v "$plus" >/dev/null; then
    program plus "$root/plus.cc" "$plus" -std=c++11
    ok $? 'the header serves C++'
    program alone "$root/single_thread.c" "$plus" -x c++ -std=c++11
    ok $? 'so does vmm_fd.h'
else
    points=$((points + 1))
    echo "ok $points - the headers serve C++ # SKIP no $plus"
fi

if [ -x "$dest/opt/cuvmm/bin/cuvmm" ]; then
    run "$dest/opt/cuvmm/bin/cuvmm" explain VMM-MAP-OVERLAP
    ok $? 'the command runs'
    (cd / && run "$dest/opt/cuvmm/bin/cuvmm" lesson 1)
    ok $? 'and has the lessons in it'
    run "$dest/opt/cuvmm/bin/cuvmm" exercise grade 1 conformance/corpus/exercises/solutions/1-vector.c
    ok $? 'and grades an exercise with what is installed'
    run test ! -e "$dest/opt/cuvmm/share/cuvmm/exercises/solutions"
    ok $? 'without its solution'
fi

# block FILE: what stands in ```c and ```text fences after a line that names FILE.
block() {
    awk -v file="$2" 'index($0, file) { seen = 1 } seen && /^```/ { if (inside) exit; inside = 1; next } inside' "$1"
}
for name in first grow faults; do
    document=docs/library.md
    [ "$name" = first ] && document=README.md
    block "$document" "examples/$name.c" | diff <(grep -v SPDX-License-Identifier "conformance/programs/examples/$name.c") - >"$root/said"
    ok $? "$document shows the very program $name.c"
    block "$document" "examples/$name.out" | diff "conformance/programs/examples/$name.out" - >"$root/said"
    ok $? "$document shows its very output"
done

# The session in README.md is an excerpt of what the shell prints.
if [ -x "$dest/opt/cuvmm/bin/cuvmm" ]; then
    "$dest/opt/cuvmm/bin/cuvmm" shell <conformance/programs/examples/session.txt 2>/dev/null | diff conformance/programs/examples/session.out - >"$root/said"
    ok $? 'the session of the examples goes as it is printed'
fi
block README.md 'excerpt of' >"$root/excerpt"
grep -v -x -F -f conformance/programs/examples/session.out "$root/excerpt" >"$root/said"
run_status=0
[ -s "$root/said" ] && run_status=1
[ "$(wc -l <"$root/excerpt")" -gt 10 ] || run_status=1
ok $run_status "README.md's excerpt of session.out is one"

run make --no-print-directory BUILD="$build" CC="$compiler" DESTDIR="$dest" PREFIX=/opt/cuvmm uninstall
ok $? 'make uninstall'
find "$dest" ! -type d >"$root/said"
run_status=0
[ -s "$root/said" ] && run_status=1
ok $run_status 'leaves nothing behind'
finish
