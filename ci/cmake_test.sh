#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CMake finds what `make install` installed, also after the folder was moved, and packaging/cmake builds it within
# another project.
# The project is packaging/example in an empty folder, as for a user. From make check: CUVMM_BUILD, CUVMM_SAN, CC.
. ci/test_head.sh
own_system
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build is not installed"
    exit 0
fi
if ! command -v cmake >/dev/null; then
    echo "1..0 # SKIP needs cmake (ci/setup --all)"
    exit 0
fi
here=$(pwd)
root=$(mktemp -d "${TMPDIR:-.}/cmake_test.XXXXXX")
root=$(cd "$root" && pwd)
trap 'rm -rf "$root"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_MACHINE CMAKE_PREFIX_PATH
said=$root/said # what `ok` shows of a failure
run() { "$@" >"$said" 2>&1; }
holds() { grep -q "$1" "$said"; }

# `make install` writes files that name the prefix below the build's folder; this test uses a separate folder with the
# same objects.
mkdir "$root/make"
for part in obj lib bin doc share include; do
    [ ! -e "$build/$part" ] || cp -al "$build/$part" "$root/make/" 2>/dev/null || cp -a "$build/$part" "$root/make/"
done
arch=$("${CC-cc}" -print-multiarch 2>/dev/null) # as Debian has it
run make --no-print-directory BUILD="$root/make" CC="${CC-cc}" DESTDIR="$root/dest" PREFIX=/usr/local LIBDIR="/usr/local/lib${arch:+/$arch}" \
    PRIVATE_LIBDIR=/usr/local/lib/cuvmm install
ok $? 'make install, with a LIBDIR and a PRIVATE_LIBDIR'
mkdir "$root/moved" && mv "$root/dest/usr/local" "$root/moved/here"
installed=$root/moved/here

# project NAME FOLDER: the example's files in an empty folder.
project() {
    mkdir "$root/$1" && cp packaging/example/pool.c packaging/example/pool.cmake "packaging/example/$2/CMakeLists.txt" "$root/$1/"
}

configure() { # configure NAME OPTION...
    local name=$1
    shift
    run cmake -S "$root/$name" -B "$root/$name/build" -DCMAKE_C_COMPILER="$(command -v "${CC-cc}")" "$@"
}

tests_pass() { # tests_pass NAME WHAT
    run cmake --build "$root/$1/build"
    ok $? "$2: it builds"
    run env -C "$root/$1/build" ctest --output-on-failure
    local status=$?
    holds '100% tests passed, 0 tests failed out of 6'
    ok $((status | $?)) "$2: its six tests give what the example says"
}

project found find-package
configure found -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_BUILD_TYPE=Debug
ok $? 'find_package finds it where it was moved'
tests_pass found find_package
run readelf -d "$root/found/build/pool"
holds 'NEEDED.*libcuda.so.1' && ! holds 'PATH'
ok $? 'the program has no path of the simulator: without cuvmm_add_test it runs on the driver'
run env -C "$root/found/build" ctest --output-on-failure -V -R pool_leak
line=$(grep -n 'cuMemCreate(' packaging/example/pool.c)
place=pool.c:${line%%:*}
pkg-config --exists libdw 2>/dev/null || place=pool+0x # without libdw the file and the offset
holds "made by *chunk_map (.*$place" && holds '1 leak' && holds 'sim:h100'
ok $? 'a finding names file and line'

cat >"$root/found/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(first LANGUAGES C)
find_package(cuvmm 0.1 CONFIG REQUIRED)
foreach(how IN ITEMS cuvmm static)
    add_executable(${how} first.c)
    target_link_libraries(${how} PRIVATE cuvmm::${how})
endforeach()
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/folder" "${cuvmm_DRIVER_DIR}")
END
cp conformance/programs/examples/first.c "$root/found/" && rm -rf "$root/found/build"
configure found -DCMAKE_PREFIX_PATH="$installed" && run cmake --build "$root/found/build"
ok $? 'cuvmm::cuvmm and cuvmm::static link'
for how in cuvmm static; do
    "$root/found/build/$how" >"$root/out" 2>&1
    diff conformance/programs/examples/first.out "$root/out" >"$said"
    ok $? "a program of cuvmm::$how prints what it should"
done
run test -e "$(cat "$root/found/build/folder")/libcuda.so.1"
ok $? 'cuvmm_DRIVER_DIR is the folder of libcuda.so.1'

# refused WHAT TEXT LINE...: a project of those lines is not configured, and the error has the reason.
refused() {
    local what=$1 text=$2
    shift 2
    rm -rf "$root/found/build"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(refused LANGUAGES C)' "$@" >"$root/found/CMakeLists.txt"
    ! configure found -DCMAKE_PREFIX_PATH="$installed" && tr -s ' \n' '  ' <"$said" >"$said.flat" && grep -q "$text" "$said.flat"
    ok $? "refused: $what"
}
found='find_package(cuvmm CONFIG REQUIRED)'
refused 'a later version' 'version: 0.1.0' 'find_package(cuvmm 0.2 CONFIG REQUIRED)'
refused 'an incompatible version' 'version: 0.1.0' 'find_package(cuvmm 0.0.9 CONFIG REQUIRED)'
refused 'an unknown component' 'no wheel' 'find_package(cuvmm CONFIG REQUIRED COMPONENTS wheel)'
refused 'a test without a program' 'needs NAME and COMMAND' "$found" 'cuvmm_add_test(NAME empty)'
refused 'a keyword that is none' 'unknown or without a value: TIMEOUT' "$found" 'cuvmm_add_test(TIMEOUT 3 NAME a COMMAND b)'
refused 'suppressions of what is not checked' 'SUPPRESSIONS is for CHECK' "$found" 'cuvmm_add_test(NAME a COMMAND b SUPPRESSIONS c)'
refused 'a sweep that is checked' 'FAULT each finds leaks' "$found" 'cuvmm_add_test(NAME a COMMAND b FAULT each CHECK)'
rm "$installed/bin/cuvmm"
refused 'a component of another package' 'no command: .*package cuvmm,' 'find_package(cuvmm CONFIG REQUIRED COMPONENTS command)'

# Within another project; it reuses the objects built here, because a separate build takes minutes (ci/check-package makes one).
project fetched fetch-content
configure fetched -DFETCHCONTENT_SOURCE_DIR_CUVMM="$here" -DCUVMM_MAKE_FLAGS="BUILD=$root/make"
ok $? 'FetchContent with SOURCE_SUBDIR packaging/cmake'
tests_pass fetched FetchContent
run env -C "$root/fetched/build" cmake --build .
! holds 'Building cuvmm'
ok $? 'FetchContent: built once'
finish
