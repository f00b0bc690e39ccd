#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library reads environment variables in a single place, which ignores those of a less privileged caller.
. ci/tap.sh
said=$(mktemp "${TMPDIR:-/tmp}/environment_test.XXXXXX")
trap 'rm -f "$said"' EXIT

# asked FILE...: finds reads of the environment outside of that place.
asked() { grep -nE '\b(secure_)?getenv *\(|\benviron\b' "$@" | grep -v '^api/base/os_environment\.c:'; }

shopt -s globstar nullglob
files=()
for file in api/**/*.[ch] backend_sim/**/*.[ch] backend_cuda/**/*.[ch] kernels/**/*.[ch]; do
    case $file in *_test.c | *_rig.h | */testing/* | */fake/*) ;; *) files+=("$file") ;; esac
done
! asked "${files[@]}" >"$said"
ok $? "the library asks for variables in api/base/os_environment.c alone" "$said"
[ "${#files[@]}" -gt 200 ] && asked tools/exec/exec_file.c >"$said"
ok $? "and it is all of the library that was looked at; elsewhere the question is found" "$said"
echo "1..$points"
exit "$((failures > 0))"
