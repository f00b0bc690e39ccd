#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libnvidia-ml.so.1 exports the functions of backend_sim/nvml/nvml_entries.def and nothing else; the header and
# docs/nvml.md list the implemented ones. From make check: CUVMM_BUILD.
. ci/test_head.sh
library=$build/lib/libnvidia-ml.so.1
table=backend_sim/nvml/nvml_entries.def

entries() { sed -n "s/^NVML_ENTRY(\\([A-Za-z0-9_]*\\), $1)\$/\\1/p" "$table" | LC_ALL=C sort -u; }

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >"$work/exported"
if [ -n "${CUVMM_SAN-}" ]; then # a sanitizer's runtime adds names of its own
    grep '^nvml' "$work/exported" >"$work/nvml" && mv "$work/nvml" "$work/exported"
fi
said=$(entries '[A-Z]*' | diff - "$work/exported")
result $? 'the functions of the table, and no other name' "$said"
result "$([ "$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = libnvidia-ml.so.1 ]; echo $?)" "its soname is NVIDIA's" ''
entries DONE >"$work/done"
said=$(sed -nE 's/^(nvmlReturn_t|const char \*) ?(nvml[A-Za-z0-9_]*)\(.*/\2/p' api/abi/nvml_functions.h | LC_ALL=C sort -u | diff - "$work/done")
result $? 'api/abi/nvml.h declares those that are there' "$said"
said=$(sed -n '/^## The functions/,/^## How/p' docs/nvml.md | grep '^|' | tr '`' '\n' | grep '^nvml' | LC_ALL=C sort | diff - "$work/done")
result $? 'docs/nvml.md has each of them once' "$said"
absent=$(entries ABSENT | wc -l)
said=$(grep -c "the other $absent answer\|calls the $absent\\." docs/nvml.md)
result "$([ "$said" = 2 ]; echo $?)" "and how many are not: $absent" "$said lines say so"
finish
