#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# None of our functions has the name of a function exported by a linked library: it would replace the library's, even
# inside that library. From make check: CUVMM_BUILD.
. ci/test_head.sh
own_system

ours=("$build/bin/cuvmm" "$build"/lib/lib*.so*)
ldd "${ours[@]}" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -v "/$build/lib/" | sort -u >"$work/libraries"
exported() { # exported LIBRARY...: their functions
    nm -D --defined-only "$@" | awk '$2 ~ /^[TWi]$/ && $3 !~ /^_(init|fini)$/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}
shared() { # shared OBJECT...: the functions of theirs that a library exports, too
    nm -g --defined-only "$@" | awk '$2 ~ /^[TW]$/ { print $3 }' | sort -u | comm -12 - "$work/exported"
}

# shellcheck disable=SC2046 # paths of the system's libraries
exported $(cat "$work/libraries") >"$work/exported"
result "$(grep -qx malloc "$work/exported"; echo $?)" 'the libraries are read' "$(cat "$work/libraries")"

objects=$(find "$build/obj" -name '*.o' ! -name '*_test.o' \
    ! -path '*/device_files/*' ! -name check_dlsym.o ! -name coverage_exit.o) # which stand in the place of the C library's
# shellcheck disable=SC2086 # a name of ours holds no blank
said=$(shared $objects)
result "$([ -z "$said" ] && [ "$(wc -w <<<"$objects")" -gt 500 ]; echo $?)" 'no function has the name of one of theirs' "$said"

printf 'void *malloc(unsigned long size)\n{\n    return (void *)size;\n}\n' >"$work/one.c"
${CC:-cc} -w -c -o "$work/one.o" "$work/one.c"
result "$([ "$(shared "$work/one.o")" = malloc ]; echo $?)" 'and one that has is found' ''
finish
