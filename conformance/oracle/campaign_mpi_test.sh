#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A campaign as the ranks of an MPI job: one, two and four. Each takes its shard from the environment, and whatever their number, the
# merge has the same calls and finds the same kinds.
. ci/test_head.sh
if ! command -v mpirun >/dev/null; then
    echo "1..0 # SKIP there is no MPI here (mpirun); ci/setup --all installs one"
    exit 0
fi
if [ -n "${CUVMM_SAN-}${CUVMM_RUN-}" ]; then
    echo "1..0 # SKIP ranks of an instrumented build find nothing more"
    exit 0
fi
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE CUVMM_TEST_SCALE
# Another MPI has to be told that root and more ranks than cores are meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if ! said_by=$(timeout 60 mpirun -n 4 true </dev/null 2>&1); then
    echo "1..0 # SKIP this MPI does not run four ranks here: ${said_by//$'\n'/ }"
    exit 0
fi
cuvmm=$build/bin/cuvmm

campaign() { # campaign RANKS
    mkdir "$work/$1"
    timeout 120 mpirun -n "$1" "$cuvmm" diff --backend sim:h100 --calls 4000 --episode 500 --flip 40 --shard auto --findings "$work/$1" \
        </dev/null >"$said" 2>&1
}
# The kinds, without what the number of shards changes.
kinds() { # kinds FOLDER
    "$cuvmm" diff --merge "$1" 2>&1 | sed -n 's/^# \(sim:h100, [0-9]* times: .*\)/\1/p'
}

for ranks in 1 2 4; do
    campaign "$ranks" && [ "$(find "$work/$ranks" -type f | wc -l)" = "$ranks" ] && [ -s "$work/$ranks/shard-$ranks-of-$ranks" ]
    ok $? "$ranks ranks write $ranks shards" "$said"
    kinds "$work/$ranks" >"$work/kinds.$ranks"
done
[ -s "$work/kinds.1" ] && cmp "$work/kinds.1" "$work/kinds.2" >"$said" 2>&1 && cmp "$work/kinds.1" "$work/kinds.4" >"$said" 2>&1
ok $? "and find the same" "$said"
rm "$work/4/shard-3-of-4"
again=$("$cuvmm" diff --merge "$work/4" 2>&1 | sed -n 's/^# missing: cuvmm //p')
read -ra command <<<"$again"
"$cuvmm" "${command[@]}" >"$said" 2>&1 && [ "$(kinds "$work/4")" = "$(cat "$work/kinds.1")" ]
ok $? "a shard that was lost is run again alone" "$said"
finish
