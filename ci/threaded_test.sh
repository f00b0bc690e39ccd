#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/threaded: a test that starts threads is found without being listed, and what starts threads for tests has to be known.
. ci/test_head.sh

found() { # found STATUS TEST...: in the small tree it ends so and prints these
    local want=$1
    shift
    ci/threaded "$work/tree" >"$work/out" 2>"$work/err"
    [ $? = "$want" ] && printf '%s\n' "$@" | diff - "$work/out"
}

ci/threaded >"$work/out" 2>"$work/err"
result $? 'all that starts threads is known' "$(cat "$work/err")"
missing=$(xargs -I{} sh -c '[ -f {} ] || echo {}' <"$work/out")
result "$([ -z "$missing" ] && [ "$(wc -l <"$work/out")" -gt 20 ]; echo $?)" 'and what is named is there' "$missing"

mkdir -p "$work/tree/api" "$work/tree/backend_sim/abi"
echo 'pthread_create(&thread, NULL, work, NULL);' >"$work/tree/api/one_test.c"
echo 'open("sim:odd,schedule=device,strict");' >"$work/tree/api/two_test.c"
echo '/* not with schedule=device */' >"$work/tree/api/three_test.c"
echo 'int main(void);' >"$work/tree/backend_sim/abi/four_test.c"
said=$(found 0 api/one_test.c api/two_test.c backend_sim/abi/four_test.c)
result $? 'a thread, a schedule, or a test of libcuda.so.1' "$said"
echo '#include "inject_rig.h"' >"$work/tree/api/five_test.c"
said=$(found 0 api/five_test.c api/one_test.c api/two_test.c backend_sim/abi/four_test.c)
result $? 'and one that injects faults' "$said"
echo 'pthread_create(&thread, NULL, work, NULL);' >"$work/tree/api/rig.h"
said=$(found 1 api/five_test.c api/one_test.c api/two_test.c backend_sim/abi/four_test.c) && said=$(cat "$work/err") && [[ $said = *api/rig.h* ]]
result $? 'an unknown header is an error' "$said"
finish
