#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# answers_table_test.sh: conformance/recorded/facts/answers/calls.def covers every entry point of libcuda.so.1 that
# takes an address of memory, or gives the reason why not. TAP.
set -u
calls=conformance/recorded/facts/answers/calls.def
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Names of functions whose prototype has an address: a CUdeviceptr, or a void pointer that is no output of the call.
cc -E -P -Iapi -include stddef.h api/abi/cuda.h | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*CUresult *\(cu[A-Za-z0-9_]*\)(\(.*\)) *$/\1 \2/p' |
    awk '{ text = $0; gsub(/CUdeviceptr *\*/, "", text); gsub(/void *\*\*/, "", text)
           if (text ~ /CUdeviceptr|void *\*|CUDA_MEMCPY2D/) print $1 }' | sort -u >"$work/takes"
sed -n 's/^[A-Z]*("\([A-Za-z0-9_]*\) .*/\1/p; s/^NOT_ASKED(\([A-Za-z0-9_]*\), ".*")$/\1/p' "$calls" | sort -u >"$work/asked"
comm -23 "$work/takes" "$work/asked" >"$work/missing"
sed 's/^/# not asked: /' "$work/missing"
count=$(wc -l <"$work/takes")
[ "$count" -gt 40 ] && [ ! -s "$work/missing" ] && status=0 || status=1
[ "$status" = 0 ] || printf 'not '
echo "ok 1 - the $count entry points that take an address are asked about"

# A name without an entry point would never get an answer.
grep -o '^ABI_DONE([A-Za-z0-9_]*' backend_sim/abi/symbols/entries.def | sed 's/.*(//' | sort -u >"$work/there"
comm -23 "$work/asked" "$work/there" | grep -v '^kernel$' >"$work/unknown"
sed 's/^/# no entry point: /' "$work/unknown"
[ ! -s "$work/unknown" ] && other=0 || other=1
[ "$other" = 0 ] || printf 'not '
echo "ok 2 - every name in the table is an entry point's"
echo 1..2
exit $((status + other))
