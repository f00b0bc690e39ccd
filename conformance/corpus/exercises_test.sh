#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The exercises: every solution gets all points on every machine and on the CUDA backend, and every skeleton none; and
# the output that students see (exercises_rig.sh). Each mistake is caught: mistakes_test.sh.
. conformance/corpus/exercises_rig.sh

# ---- solutions and skeletons ----

machines=(sim:h100 sim:odd 'sim:h200x2,strict,schedule=random:3' sim:coarse.profile sim:min)
driver="cuda:$build/lib/libcuda.so.1"
for folder in "$exercises"/[0-9]-*; do
    exercise=${folder##*/}
    name=${exercise#*-}
    said=$(compile "$exercise" "$exercises/solutions/$exercise.c" "$work/$exercise" &&
        grade "$work/$exercise" "${machines[@]}")
    status=$?
    [[ $said == *' points'* ]] || status=1
    result $status "the solution of $exercise has all points on every machine" "$(grep -v '^ok' <<<"$said")"
    said=$(CUVMM_KERNELS=cuvmm CUVMM_SIM=sim:h200x2,machine=exercises-$$ grade "$work/$exercise" "shadow | $driver")
    result $? "and on the CUDA backend" "$(grep -v '^ok' <<<"$said")"
    said=$(compile "$exercise" "$folder/$name.c" "$work/skeleton" && grade "$work/skeleton" sim:odd)
    status=$?
    crashed=$(grep -c 'EX-CRASH\|EX-HANG\|^Bail' <<<"$said")
    passed=$(grep '^ok' <<<"$said" | grep -vc '# SKIP')
    # A program to fix starts with the points that it already gets.
    [ "$status" -eq 1 ] && [ "$crashed" -eq 0 ] && { [ "$passed" -eq 0 ] || [ "$name" = fix ]; }
    result $? "the skeleton of $exercise has none, and crashes nowhere" "$(grep '^ok\|CRASH\|HANG\|^Bail' <<<"$said")"
done

for folder in "$exercises"/[0-9]-*; do
    count=$(grep -c "^$exercises/solutions/${folder##*/}.c$" "$exercises/mistakes.list")
    [ "$count" -ge 4 ]
    result $? "at least 4 mistakes in ${folder##*/} are caught by its grader" "$count"
done

# ---- a mistake on several machines ----

compile 1-vector "$exercises/1-vector/vector.c" "$work/skeleton" >/dev/null
said=$(grade "$work/skeleton" sim:h100 sim:odd)
count() { grep -c -- "$1" <<<"$said"; }
[ "$(count '^not ok .* sim:odd ')" -gt 5 ] && [ "$(count '^#   mistake .*(as on sim:h100)$')" -gt 5 ] &&
    [ "$(sed -n '/^not ok .* sim:odd /,$p' <<<"$said" | grep -c '^#   fix')" -lt "$(sed '/^not ok .* sim:odd /,$d' <<<"$said" | grep -c '^#   fix')" ]
result $? 'a mistake that is made on every machine is explained once' "$(head -n 30 <<<"$said")"

# ---- as students do it ----

student() { # student NAME STATUS WORDS COMMAND...
    local name=$1 want=$2 words=$3 status
    shift 3
    said=$("$@" 2>&1 </dev/null)
    status=$?
    [ "$status" -eq "$want" ] && [[ $said == *"$words"* ]]
    result $? "$name" "status $status: $said"
}

cuvmm=$build/bin/cuvmm
mine=$work/mine
student 'they are listed' 0 '  1  vector: a vector that grows without moving' "$cuvmm" exercise
student 'one is copied out' 0 'task.md says what to do' "$cuvmm" exercise take vector "$mine"
student 'without its grader' 0 $'task.md\nvector.c\nvector.h' ls "$mine"
student 'and not over what is there' 2 'is there already' "$cuvmm" exercise take 1 "$mine"
student 'there is no other' 2 'there is no exercise "9"' "$cuvmm" exercise take 9 "$work/nine"
fast=(env CFLAGS='-O0 -g0' "$cuvmm" exercise grade)
student 'the report of the skeleton says what is wrong' 1 'not ok 1 - sim:h100 open: vector_open succeeds' \
    "${fast[@]}" 1 "$mine/vector.c" sim:h100
cp "$exercises/solutions/1-vector.c" "$mine/vector.c"
student 'a solution has all points' 0 '# solved: ' "${fast[@]}" vector "$mine/vector.c"
student 'on one machine, point by point' 0 'ok 1 - sim:odd open: vector_open succeeds' \
    "${fast[@]}" 1-vector "$mine/vector.c" --all --part=open sim:odd
student 'no file' 2 'is not a file' "$cuvmm" exercise grade 1 "$mine/none.c"
student 'no exercise and no file' 2 'grade needs the exercise and your file' "$cuvmm" exercise grade
student 'an option behind a machine' 2 'options stand before' "$cuvmm" exercise grade 1 "$mine/vector.c" sim:odd --all
student 'an option that there is not' 2 'unknown option "--fast"' "$cuvmm" exercise grade 1 "$mine/vector.c" --fast
echo '/* mine */' >>"$mine/vector.h"
student 'the contract is not to be changed' 2 'change it back' "$cuvmm" exercise grade 1 "$mine/vector.c"
cp "$exercises/1-vector/vector.h" "$mine/vector.h"
echo 'int error' >>"$mine/vector.c"
student 'what does not compile is no failed point' 2 'does not compile; above is why' "${fast[@]}" 1 "$mine/vector.c"
student 'no exercises, no list' 2 'CUVMM_EXERCISES' env CUVMM_EXERCISES="$work/none" "$cuvmm" exercise
make=(make --no-print-directory BUILD="$build" CC="$compiler")
student 'make lists them' 0 '  6  fix: fix this program' "${make[@]}" exercise
student 'make copies one out' 0 'task.md says what to do' "${make[@]}" exercise EX=fix INTO="$work/fix"
student 'make grades' 2 '#   mistake   ' "${make[@]}" grade EX=fix SRC="$work/fix/fix.c"
sed 's/result = vmm_ctx_synchronize(v->sys);/result = VMM_SUCCESS;/' "$exercises/solutions/1-vector.c" >"$mine/vector.c"
"${fast[@]}" 1 "$mine/vector.c" --part='in flight' sim:h100 >"$work/told" 2>&1
said=$(awk '/^```text/ { inside = 1; next } /^```/ { inside = 0 } inside' "$exercises/README.md" | grep -vxF -f "$work/told")
[ -z "$said" ] && grep -q '^```text' "$exercises/README.md"
result $? 'the page for students shows what the grader says' "$said"
said=''
for folder in "$exercises"/[0-9]-*; do
    task=$(<"$folder/task.md")
    grade=$(<"$folder/grade.c")
    for rule in $(grep -oE '"(EX|VMM)-[A-Z0-9-]+"' "$folder/grade.c" | sort -u | tr -d '"'); do
        [[ $task == *"$rule"* ]] || said+="$rule is not in $folder/task.md "
        [[ $grade != *"{\"$rule\""* || $grade == *"\"$rule\""*"\"$rule\""* ]] || said+="$rule is of no use in $folder "
    done
done
[ -z "$said" ]
result $? 'each rule that a grader names stands in its task, and each of its own is used' "$said"
echo "1..$points"
[ "$failures" -eq 0 ]
