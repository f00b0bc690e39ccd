#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installed files are hardened as described in ci/flags.mk, checked in the libraries and the command themselves. From
# make check: CUVMM_BUILD, CUVMM_HARDENED (what this build has of it: ci/flags.mk; unset for all).
set -u
build=${CUVMM_BUILD-build}
hardened=${CUVMM_HARDENED--fstack-protector-strong fortify linker -fcf-protection -mbranch-protection=standard}
if [ -z "$hardened" ] || [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP built without hardening"
    exit 0
fi
if [[ $hardened != *linker* ]]; then
    echo "1..0 # SKIP not this system's kind of libraries"
    exit 0
fi
points=0 failures=0

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok $points - $2"; else
        failures=$((failures + 1))
        echo "not ok $points - $2"
    fi
}

has() { # has TEXT PATTERN: a here-string, since grep -q leaves a pipe early
    grep -qE "$2" <<<"$1"
}

for file in "$build/lib/libcuvmm.so" "$build/lib/libcuda.so.1" "$build/lib/libcudart.so.12" "$build/lib/libcudart.so.13" "$build/lib/libnvidia-ml.so.1" "$build/lib/libcuvmm-check.so" "$build/lib/libcuvmm-device-files.so" "$build/bin/cuvmm"; do
    name=$(basename "$file")
    headers=$(readelf -hlW "$file")
    dynamic=$(readelf -dW "$file")
    imports=$(nm -D --undefined-only "$file" | awk '{ sub(/@.*/, "", $2); print $2 }')
    has "$headers" 'Type: +DYN'
    point $? "$name lies anywhere"
    has "$headers" 'GNU_RELRO' && has "$dynamic" 'FLAGS_1.*NOW|BIND_NOW'
    point $? "$name resolves its names at the start, and can write to their table no more"
    has "$headers" 'GNU_STACK.* RW +0x' && ! has "$dynamic" 'TEXTREL'
    point $? "$name executes nothing that it writes"
    [[ $hardened != *stack-protector* ]] || has "$imports" '^__stack_chk_fail$'
    point $? "$name watches its stack"
    if [[ $hardened == *fortify* ]] && has "$(nm -D --defined-only "$(ldconfig -p 2>/dev/null | awk '/libc\.so\.6 /{ print $NF; exit }')" 2>/dev/null)" 'snprintf_chk'; then
        has "$imports" '^__[a-z]+_chk$'
        point $? "$name asks for the checked functions of the C library"
    else
        points=$((points + 1))
        echo "ok $points - $name asks for the checked functions # SKIP this C library has none, or there is no optimiser"
    fi
done
# An indirect call may land at the start of a function and nowhere else. The linker keeps the mark where all objects have it,
# those of the C library too; so it is looked for in the code.
case "$(uname -m) $hardened" in
x86_64*-fcf-protection*) landing=endbr64 ;;
aarch64*-mbranch-protection*) landing='paciasp|bti' ;;
*) landing= ;;
esac
if [ -n "$landing" ]; then
    has "$(objdump -d --no-show-raw-insn --disassemble=vmm_open "$build/lib/libcuvmm.so")" "$landing"
    point $? "libcuvmm.so marks where calls may land"
fi
echo "1..$points"
[ "$failures" -eq 0 ]
