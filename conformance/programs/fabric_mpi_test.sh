#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example with MPI: four ranks write one memory, as processes of one node and as four nodes, and are told why where they
# may not. From make check: CUVMM_BUILD, CUVMM_SAN.
. ci/test_head.sh
own_system
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    echo "1..0 # SKIP there is no MPI here (mpicc, mpirun); ci/setup --all installs one"
    exit 0
fi
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build links against its own"
    exit 0
fi
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE
CUVMM_MACHINES=$(in_memory "$work")
trap 'rm -rf "$work" "$CUVMM_MACHINES"' EXIT
export CUVMM_MACHINES TMPDIR=/tmp
# Another MPI has to be told that root and more ranks than cores are meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

# An MPI that cannot even start (no network, no name for this host) says nothing about cuvmm.
cat >"$work/hello.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) || MPI_Barrier(MPI_COMM_WORLD) || MPI_Finalize();
}
END
if ! said=$(mpicc -o "$work/hello" "$work/hello.c" 2>&1 && timeout 60 mpirun -n 4 "$work/hello" </dev/null 2>&1); then
    echo "1..0 # SKIP this MPI does not run four ranks here: ${said//$'\n'/ }"
    exit 0
fi

run() { # run SPEC...: four ranks, what they say together
    timeout 60 mpirun -n 4 "$work/fabric" "$@" </dev/null 2>&1
}

writes() { # writes NAME SPEC
    said=$(run "$2") && [[ $said == *"4 ranks wrote "*" bytes each, 0 are wrong"* ]] && [[ $said != *leak* ]]
    result $? "$1" "$said"
}

refused() { # refused NAME RULE SPEC
    ! said=$(run "$3") && [[ $said == *"$2"* ]]
    result $? "$1" "$said"
}

mkdir "$work/cuvmm" "$work/empty"
for domain in domain domain0 domain1 domain2 domain3; do
    mkdir "$work/$domain"
    touch "$work/$domain/channel0"
done
ln -s "$PWD"/api/*.h "$PWD"/api/*.def "$PWD/api/vmm" "$work/cuvmm/"
libraries=(-pthread)
[ "$(uname -s)" = Linux ] && libraries+=(-ldl)
said=$(mpicc -std=c11 -Wall -Wextra -I"$work" -o "$work/fabric" conformance/programs/examples/mpi/fabric.c "$build/lib/libcuvmm.a" \
    "${libraries[@]}" 2>&1)
result $? "the example compiles with mpicc" "$said"
writes "four nodes" "sim:gb200x4,machine=node%d,imex=$work/domain"
writes "four processes of a node" "sim:gb200x4,machine=node,imex=$work/domain"
writes "machines without names, the channel that the profile has" sim:gb200x4
export CUVMM_BACKEND=sim:max
said=$(run) && [[ $said == *"0 are wrong"* ]]
result $? "what the environment says, without an argument" "$said"
refused "no channel" VMM-CREATE-FABRIC-IMEX "sim:gb200x4,machine=node%d,imex=$work/empty"
refused "four domains" VMM-IMPORT-FABRIC-DOMAIN "sim:gb200x4,machine=node,imex=$work/domain%d"
refused "no fabric handles" VMM-CREATE-FABRIC-UNSUPPORTED sim:min
said=$(timeout 60 mpirun -n 1 "$work/fabric" "sim:gb200x4,machine=last,imex=$work/domain" </dev/null 2>&1
    find "$CUVMM_MACHINES" -mindepth 1)
[[ $said == *"1 ranks wrote"*"0 are wrong" ]]
result $? "nothing is left of the machines" "$said"
finish
