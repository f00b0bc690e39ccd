#!/usr/bin/env bash
# The exercises: every solution has all points on every machine and on the CUDA backend, every skeleton has none, and each mistake
# of mistakes.list is caught by its point with its rule. From make check: CUVMM_BUILD, CUVMM_SAN, CC.
set -u
build=$(cd "${CUVMM_BUILD-build}" && pwd)
compiler=${CC-cc}
exercises=conformance/exercises
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build is not what students link with"
    exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/exercises_test.XXXXXX")
work=$(cd "$work" && pwd)
trap 'rm -rf "$work"' EXIT
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE CUVMM_PREFIX CUVMM_EXERCISES MAKEFLAGS MFLAGS MAKELEVEL
export CUVMM_MACHINES=$work/machines
. ci/tap.sh

# ---- the graders: each exercise's objects once, so that a variant costs its own compilation and a link ----

flags=(-std=c11 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
    -D_POSIX_C_SOURCE=200809L -I"$build/include" -I"$build/include/cuvmm")
system=(-pthread) # which the static library needs, where the shared one was not made
[ "$(uname -s)" != Linux ] || system+=(-ldl)
mkdir "$work/grader"
said=$(cd "$work/grader" && "$compiler" "${flags[@]}" -O1 -c "$OLDPWD/$exercises"/grader/*.c "$OLDPWD/conformance/tap.c" 2>&1)
result $? 'the grader compiles without a warning' "$said"
for folder in "$exercises"/[0-9]-*; do
    said=$("$compiler" "${flags[@]}" -O1 -c -o "$work/${folder##*/}.o" "$folder/grade.c" 2>&1) ||
        result 1 "the grader of ${folder##*/} compiles" "$said"
done

compile() { # compile EXERCISE SOURCE PROGRAM [FLAG...]
    local exercise=$1 source=$2 program=$3
    shift 3
    "$compiler" "${flags[@]}" "$@" -I"$exercises/$exercise" -o "$program" "$source" "$work/$exercise.o" "$work"/grader/*.o \
        -L"$build/lib" -lcuvmm -Wl,-rpath,"$build/lib" "${system[@]}" 2>&1
}

grade() { # grade PROGRAM ARGUMENT...: where a profile is named it lies beside the exercises
    (cd "$exercises" && exec timeout 300 "$@" </dev/null 2>&1)
}

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
    # What is to be mended begins with what it does well.
    [ "$status" -eq 1 ] && [ "$crashed" -eq 0 ] && { [ "$passed" -eq 0 ] || [ "$name" = fix ]; }
    result $? "the skeleton of $exercise has none, and crashes nowhere" "$(grep '^ok\|CRASH\|HANG\|^Bail' <<<"$said")"
done

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
student 'the skeleton is told what is wrong' 1 'not ok 1 - sim:h100 open: vector_open succeeds' \
    "${fast[@]}" 1 "$mine/vector.c" sim:h100
cp "$exercises/solutions/1-vector.c" "$mine/vector.c"
student 'a solution has all points' 0 '# solved: ' "${fast[@]}" vector "$mine/vector.c"
student 'on one machine, point by point' 0 'ok 1 - sim:odd open: vector_open succeeds' \
    "${fast[@]}" 1-vector "$mine/vector.c" --all --part=open sim:odd
student 'no file' 2 'is no file' "$cuvmm" exercise grade 1 "$mine/none.c"
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
    for rule in $(grep -oE '"(EX|VMM)-[A-Z0-9-]+"' "$folder/grade.c" | sort -u | tr -d '"'); do
        grep -q "$rule" "$folder/task.md" || said+="$rule is not in $folder/task.md "
        ! grep -q "{\"$rule\"" "$folder/grade.c" || [ "$(grep -o "\"$rule\"" "$folder/grade.c" | wc -l)" -gt 1 ] ||
            said+="$rule is of no use in $folder "
    done
done
[ -z "$said" ]
result $? 'each rule that a grader names stands in its task, and each of its own is used' "$said"

# ---- mistakes ----

perl - "$exercises" "$work" <<'END' >"$work/mistakes" || result 1 'mistakes.list can be read' 'see above'
use strict; use warnings;
my ($exercises, $work) = @ARGV;
my (@list, $m);
sub slurp { my ($path) = @_; local $/; open my $in, "<", $path or die "$path: $!\n"; return scalar <$in>; }
for (split /\n/, slurp("$exercises/mistakes.list")) {
    next if /^#/ || $_ eq "";
    if (/^== (\S+) ([\w-]+): (.+)$/) {
        push @list, $m = { exercise => $1, id => $2, what => $3, on => "sim:h100", says => "-", from => [], to => [] };
    } elsif (/^(on|point|rule|says) (.+)$/) { $m->{$1} = $2 }
    elsif (/^([-+]) ?(.*)$/) { push @{ $m->{ $1 eq "-" ? "from" : "to" } }, $2 }
    else { die "mistakes.list: not understood: $_\n" }
}
for (@list) {
    my $text = slurp("$exercises/solutions/$_->{exercise}.c");
    my ($from, $to) = (join("\n", @{ $_->{from} }), join("\n", @{ $_->{to} }));
    my $count = () = $text =~ /\Q$from\E/g;
    die "$_->{id}: its text stands $count times in the solution of $_->{exercise}, not once\n" if $count != 1;
    $text =~ s/\Q$from\E/$to/;
    open my $out, ">", "$work/$_->{exercise}.$_->{id}.c" or die; print $out $text; close $out or die;
    print join("\t", @$_{qw(exercise id on point rule what says)}), "\n";
}
END

try() { # try EXERCISE ID ON POINT: what the grader says is left in a file
    local program=$work/$1.$2
    compile "$1" "$program.c" "$program" -Wno-error -Wno-unused >"$program.said" || return
    CUVMM_EXERCISE_PATIENCE=${patience-60} grade "$program" --part="${4%%: *}" "$3" >"$program.said"
    [ $? -eq 1 ] || echo "not ok: the grader did not end with 1" >>"$program.said"
}

# Those that come to no end wait beside the others, and are given little time.
while IFS=$'\t' read -r exercise id on point rule _ _; do
    [ "$rule" != EX-HANG ] || patience=3 try "$exercise" "$id" "$on" "$point" &
done <"$work/mistakes"
while IFS=$'\t' read -r exercise id on point rule _ _; do
    [ "$rule" = EX-HANG ] || try "$exercise" "$id" "$on" "$point"
done <"$work/mistakes"
wait
# Caught: the point failed, and its notes name the rule.
perl -F'\t' -lane '
    my ($exercise, $id, $on, $point, $rule, $what, $says) = @F;
    my ($in, $caught, $said) = (0, 0, $says eq "-");
    open my $in_file, "<", "'"$work"'/$exercise.$id.said" or die;
    while (my $line = <$in_file>) {
        $in = $1 eq "not ok" && $2 eq $point if $line =~ /^(not ok|ok) \d+ - \S+ (.*)$/;
        $caught = 1 if $in && $line =~ /^#   rule      \Q$rule\E:/;
        $said = 1 if index($line, $says) >= 0;
        $caught = 0 if $line =~ /^not ok: /;
    }
    print "$exercise.$id" if $caught && $said;' "$work/mistakes" >"$work/caught"
while IFS=$'\t' read -r exercise id _ _ rule what _; do
    grep -qxF "$exercise.$id" "$work/caught"
    result $? "$exercise: $id: $what: $rule" "$(cat "$work/$exercise.$id.said")"
done <"$work/mistakes"
for folder in "$exercises"/[0-9]-*; do
    caught=$(grep -c "^${folder##*/}	" "$work/mistakes")
    [ "$caught" -ge 4 ]
    result $? "at least 4 mistakes in ${folder##*/}" "$caught"
done
echo "1..$points"
[ "$failures" -eq 0 ]
