#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every allocation and system call of the libraries goes through api/base/heap.h and api/base/posix.h, so that tests can make it fail: no
# other object refers to a function of these tables. And no program can change the tables.
# From make check: CUVMM_BUILD.
. ci/test_head.sh

functions=$({ sed -nE 's/^ +[a-z ]+\*?\(\*([a-z]+)\)\(.*/\1/p' api/base/heap.h
    sed -nE 's/^POSIX_[A-Z]+\([^,]+, ([a-z0-9_]+),.*/\1/p' api/base/posix.def
    echo getrlimit; } | sort)
result "$([ "$(wc -w <<<"$functions")" -gt 40 ] && [[ $functions = *calloc*munmap*open*strndup* ]]; echo $?)" 'the tables are read' ''

# Fortified, and of a system with files of 64 bits, a function has another name.
pattern="^(__)?($(paste -sd'|' <<<"$functions"))(64)?(_2|_chk)?$"
direct() { # direct OBJECT...: the references, but for those of the tables themselves
    nm -A -u "$@" | sed -E 's/@.*//' | awk -v pattern="$pattern" '$NF ~ pattern' | grep -vE '/(heap|posix)\.o:'
}

objects=$(find "$build/obj/api" "$build/obj/backend_sim" "$build/obj/backend_cuda" -name '*.o' ! -name '*_test.o' \
    ! -path '*/device_files/*') # which stand in the place of the C library's
# shellcheck disable=SC2086 # a name of ours holds no blank
said=$(direct $objects)
result "$([ -z "$said" ] && [ "$(wc -w <<<"$objects")" -gt 100 ]; echo $?)" 'no object but the tables calls what they list' "$said"

printf '#include <stdlib.h>\nint main(void)\n{\n    free(malloc(1));\n}\n' >"$work/one.c"
${CC:-cc} -O0 -c -o "$work/one.o" "$work/one.c"
said=$(direct "$work/one.o")
result "$([ "$(wc -l <<<"$said")" = 2 ]; echo $?)" 'which would be found' "$said"

for library in libcuvmm.so libcuda.so.1 libnvidia-ml.so.1 libcuvmm-check.so; do
    said=$(nm -D "$build/lib/$library" | grep -E ' (heap|posix)$')
    result "$([ -z "$said" ]; echo $?)" "$library does not export its tables" "$said"
    said=$(nm "$build/lib/$library" | grep -E ' (heap|posix)$')
    result "$([ "$(grep -c ' d ' <<<"$said")" = 2 ]; echo $?)" 'it has them' "$said"
done
finish
