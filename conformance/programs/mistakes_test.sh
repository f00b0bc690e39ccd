#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each mistake of the exercises' mistakes.list is caught by its point with its rule (exercises_rig.sh).
. conformance/corpus/exercises_rig.sh

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
