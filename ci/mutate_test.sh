#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/mutate distinguishes mutants that a test notices from others: on a tree with one file and one test, and a tool
# with predefined mutants.
TMPDIR=/tmp # a mutant's box has a /dev/shm of its own, and shows what lies below /tmp
. ci/test_head.sh
if ! command -v python3 >/dev/null || ! python3 -c 'import os; os.pidfd_open' 2>/dev/null; then
    echo "1..0 # SKIP needs Python 3.9"
    exit 0
fi
tree=$work/tree
mkdir -p "$tree/backend_sim/abi/room" "$tree/ci"
cp -R ci/mutate ci/mutation ci/coverage_exit.c "$tree/ci/"
cat >"$tree/backend_sim/sum.c" <<'END'
int sum(int n);

int sum(int n)
{
    int total = 0; /* of all numbers up to n */
    for (int i = 0; i <= n; i++)
        total = total + i;
    if (n < -5)
        total = -1;
    return total;
}
END
printf 'int answer(void);\n\nint answer(void)\n{\n    return 42;\n}\n' >"$tree/backend_sim/abi/room/answer.c"
# Of another system: no build of this one compiles it, and no run makes mutants of it.
echo '#error "not here"' >"$tree/backend_sim/other_system.c"
cat >"$tree/backend_sim/sum_test.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int sum(int n);

int main(void)
{
    const char *escape = getenv("MUTATE_TEST_ESCAPE");
    int got = sum(3);
    if (got != 6 && escape)
        fclose(fopen(escape, "w"));
    printf("%s 1 - the sum\n1..1\n", got == 6 ? "ok" : "not ok");
    return got != 6;
}
END
cat >"$tree/Makefile" <<'END'
check-build: $(BUILD)/test/backend_sim/sum_test $(BUILD)/check/again
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Werror -g -c -o $@ $<
$(BUILD)/lib/libcuvmm.a: $(BUILD)/obj/backend_sim/sum.o $(BUILD)/obj/backend_sim/abi/room/answer.o
	@mkdir -p $(@D)
	ar rcs $@ $^
$(BUILD)/test/%: $(BUILD)/obj/%.o $(BUILD)/lib/libcuvmm.a
	@mkdir -p $(@D)
	$(CC) -g -o $@ $^
$(BUILD)/check/again:
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec $(BUILD)/test/backend_sim/sum_test\n' >$@
	@chmod +x $@
.PHONY: check-list-few
check-list-few:
	@echo $(BUILD)/test/backend_sim/sum_test $(BUILD)/check/again
.SECONDARY:
END
# The tool: line and text of each mutant from the file `proposed`.
cat >"$work/tool.py" <<'END'
import json, sys
request = json.loads(sys.stdin.readline())
proposed = [line.rstrip("\n").split(" ", 1) for line in open(sys.argv[1])]
print(json.dumps({"file": request["file"], "mutants": [[int(n), text + "\n"] for n, text in proposed]}))
END
make -s -C "$tree" BUILD=out check-build || exit 1
: >"$tree/ci/mutants.list"

mutate() { # mutate ARGUMENT...: of what stands in `proposed`, without a second look
    thoroughly --quick "$@"
}
thoroughly() {
    python3 "$tree/ci/mutate" --build out --tool "python3 $work/tool.py $work/proposed" --jobs 1 "$@" >"$said" 2>&1
}
sums() { grep -qx "# $1" "$said"; }

cat >"$work/proposed" <<'END'
7 total = total - i;
8 if (n < -6)
5 int total = 00;
7 total = total + 1*i;
7 total = total + j;
7 total = total 7 i;
END
mutate
ok $(($? != 1)) 'a mutant that survives is a failure'
sums '4 mutants: 1 killed, 2 equivalent by the compiler, 0 listed as equivalent, 1 survived'
ok $? 'each is counted once; what does not compile is none'
grep -q '^ok [0-9]* - killed backend_sim/sum.c:7 .* by .*sum_test: 1 - the sum' "$said"
ok $? 'a killed one says which test noticed, and what'
id=$(sed -n 's/^not ok .* survived backend_sim.sum.c:8 \([0-9a-f]*\)$/\1/p' "$said")
grep -qx '#   - if (n < -5)' "$said" && grep -qx '#   + if (n < -6)' "$said" && grep -q "ONLY=$id" "$said"
ok $? 'a survivor is shown, with the way to see it again'
mutate --only "$id"
sums '1 mutants: 0 killed, 0 equivalent by the compiler, 0 listed as equivalent, 1 survived'
ok $? 'and can be tried alone'
! grep 'left out' "$said"
ok $? 'by scripts of the build, too'
mutate --reach --only "$id"
sums '1 mutants: 0 killed, 0 equivalent by the compiler, 0 listed as equivalent, 1 survived' &&
    grep -q '"good": true' "$tree/out/mutate/reach.json"
ok $? 'also when it was measured where tests go'
cat >"$work/reach_test.py" <<'END'
import sys
sys.path.insert(0, "ci/mutation")
import reach
measured = reach.Reach.__new__(reach.Reach)
measured.code = {name: {"lines": [2, 3, 4], "functions": [[1, 5]]} for name in ("f.c", "h.c")}
lines = {"calls": {"f.c": [2]}, "goes on": {"f.c": [2, 3]}, "elsewhere": {}, "bad": {"f.c": [2, 3, 4]}}
measured.tests = {name: {"good": name != "bad", "lines": there} for name, there in lines.items()}
for file, line, want in (("f.c", 3, {"goes on"}), ("f.c", 4, {"calls", "goes on"}), ("f.c", 9, {"calls", "goes on"}),
                         ("g.c", 1, {"calls", "goes on", "elsewhere"}), ("h.c", 3, {"calls", "goes on", "elsewhere"})):
    assert measured.tests_at(file, line) == want, (file, line, measured.tests_at(file, line))
END
python3 "$work/reach_test.py" >"$said" 2>&1
ok $? 'a line that no test was seen to come to, as of those that die there, is tried by all that come to its file'
cat >"$work/judge_test.py" <<'END'
import sys
sys.path.insert(0, "ci/mutation")
import judge
import runs
good, short = (0, b"ok 1\n1..1\n", None, 0.1), (-9, b"", "memory", 0.1)
runs.wait_for_memory = lambda: None

class Bench:
    change = None
    def load(self, *objects):
        self.change = objects[1] if len(objects) > 1 else None
    def products_of(self, test):
        return []
    def run(self, *test):
        return runs.Result(*self.results.pop(0))

class Mutant:
    file, lines = "f.c", [1]

for results, want in (([good, short, good], ("survived", None, None)), ([short, short], ("killed", "t", "memory"))):
    bench = Bench()
    bench.results = results
    got = judge.Judge(["t"], "b", None, judge.Order(60)).try_on(bench, Mutant, object())
    assert got == want and not results, (got, want, results)
END
python3 "$work/judge_test.py" >"$said" 2>&1
ok $? 'a test that is ended for want of memory, which others may have used up, is tried once more'
mutate --sample 2
grep -q '^1..2$' "$said"
ok $? 'a sample has as many as are asked for'
cp "$said" "$said.first"
mutate --sample 2
diff <(grep -o 'sum.c:.* ' "$said") <(grep -o 'sum.c:.* ' "$said.first") >/dev/null
ok $? 'and is the same while nothing changes'
mutate --seconds 300
grep -q '^1..2$' "$said"
ok $? 'where there is time, all are tried'
mutate --seconds -1
grep -q '^1..0$' "$said" && sums '0 mutants: .*'
ok $? 'when the time is up, no other one is begun, and the sums are of those that were'
mkdir -p "$work/package/universalmutator"
cat >"$work/package/universalmutator/__init__.py" <<'END'
class mutator:
    @staticmethod
    def mutants_regexp(lines, **named):
        return [(7, "total = total - i;\n")]
END
packaged() {
    python3 "$tree/ci/mutate" --build out --package "$1" --jobs 1 --quick >"$said" 2>&1
}
packaged "$work/package"
sums '1 mutants: 1 killed, 0 equivalent by the compiler, 0 listed as equivalent, 0 survived'
ok $? 'universalmutator may lie in a folder, where no network is'
packaged "$work"
[ $? = 2 ] && grep -q "$work: expected a folder with the package universalmutator in it" "$said"
ok $? 'a folder without it is an error'
cp "$work/proposed" "$work/kept"
cp "$tree/backend_sim/sum.c" "$work/sum.c"
for more in 1 2 3 4 5 6 7 8; do
    echo "7 total = total + i + $more;"
done >"$work/proposed"
mutate --sample 2
grep -o 'sum.c:7 [0-9a-f]*' "$said" | cut -d' ' -f2 >"$said.first"
sed -i -e 's/-5/-50/' -e '1s/^/#include <stddef.h>\n/' "$tree/backend_sim/sum.c"
sed -i 's/^7/8/' "$work/proposed"
mutate --sample 2
[ -s "$said.first" ] && diff "$said.first" <(grep -o 'sum.c:8 [0-9a-f]*' "$said" | cut -d' ' -f2) >/dev/null
ok $? 'also when other lines of its file change'
printf '%s\n' 'int more(int total, int i);' 'int more(int total, int i)' '{' 'total = total + i;' 'return total;' '}' \
    >>"$tree/backend_sim/sum.c"
last=$(($(wc -l <"$tree/backend_sim/sum.c") - 2))
sed -i "1s/^8/$last/" "$work/proposed"
mutate --sample 8
! grep "sum.c:$last" "$said" && grep -q '^1..7$' "$said"
ok $? 'and of lines with one text it takes the first'
mv "$work/sum.c" "$tree/backend_sim/sum.c"
mv "$work/kept" "$work/proposed"

cat >"$tree/ci/mutants.list" <<'END'
== backend_sim/sum.c
- if (n < -5)
+ if (n < -6)
  Nobody sums up to there.
END
mutate
ok $? 'a listed one is not a failure'
sums '4 mutants: 1 killed, 2 equivalent by the compiler, 1 listed as equivalent, 0 survived'
ok $? 'and counted apart'
echo '8 if (n <= -7)' >"$work/proposed"
mutate
sums '1 mutants: 0 killed, 0 equivalent by the compiler, 1 listed as equivalent, 0 survived'
ok $? 'so is one that says the same in other words'
sed -i 's/-5/-4/' "$tree/ci/mutants.list"
mutate
[ $? = 2 ] && grep -q 'mutants.list:2: backend_sim/sum.c has no line: if (n < -4)' "$said"
ok $? 'an entry of a line that is not there any more is an error'
sed -i '/Nobody/d' "$tree/ci/mutants.list"
mutate
[ $? = 2 ] && grep -q 'mutants.list:2: no reason' "$said"
ok $? 'so is one without a reason'
: >"$tree/ci/mutants.list"
mutate --files backend_sim/none.c
[ $? = 2 ] && grep -q 'backend_sim/none.c: expected files of the engine' "$said"
ok $? 'and a file that is not the engine'
mutate --files backend_sim/other_system.c
[ $? = 2 ] && grep -q 'backend_sim/other_system.c: this build does not compile it' "$said"
ok $? 'or that the build does not compile'
echo '5 return 41;' >"$work/proposed"
mutate --files backend_sim/abi/room/answer.c
sums '1 mutants: 0 killed, 0 equivalent by the compiler, 0 listed as equivalent, 1 survived'
ok $? 'a file of libcuda.so.1 is taken where it is named'

echo '6 for (int i = 0; i <= n; i += 0)' >"$work/proposed"
mutate
grep -q '^ok 1 - killed .*: \(time\|status 1[35][27]\)$' "$said"
ok $? 'a mutant that does not end is killed'

echo '5 int *volatile room = __builtin_malloc(sizeof(int)), total = *room;' >"$work/proposed"
mutate
sums '1 mutants: 1 killed, 0 equivalent by the compiler, 0 listed as equivalent, 0 survived'
ok $? 'and one that reads what was never set'

cat >"$work/proposed" <<'END'
5 int *volatile kept = __builtin_malloc(sizeof(int)), total = kept ? 0 : 1;
7 { volatile int seen[3] = {0, 0, 0}; total = total + i + seen[i] - seen[i]; }
END
if echo 'int main(void) { return 0; }' >"$work/p.c" && cc -fsanitize=address,undefined -o "$work/p" "$work/p.c" 2>"$said" &&
    "$work/p" 2>>"$said"; then
    thoroughly
    [ "$(grep -c '^ok .* killed .*: with sanitizers: ' "$said")" = 2 ]
    ok $? 'what only sanitizers notice, a leak, or a byte beside an array, is killed'
    mutate
    sums '2 mutants: 0 killed, 0 equivalent by the compiler, 0 listed as equivalent, 2 survived'
    ok $? 'but not in a hurry'
    echo '8 if (n < -6)' >"$work/proposed"
    thoroughly
    sums '1 mutants: 0 killed, 0 equivalent by the compiler, 0 listed as equivalent, 1 survived'
    ok $? 'and what they do not notice either survives'
else
    skip 'what only sanitizers notice is killed' 'no program with sanitizers can be made and run here'
fi

echo '7 total = total - i;' >"$work/proposed"
exec 8>"$tree/out/mutate/lock"
flock 8
mutate
[ $? = 2 ] && grep -q "out/mutate: another run is at work there" "$said" && ! grep -q '^ok\|^not ok' "$said"
ok $? 'of two runs in one build the second is refused'
exec 8>&-
mutate
ok $? 'and has its turn afterwards'

# ---- mistakes by hand ----

cat >"$tree/ci/sabotage.list" <<'END'
# A list.
== sum-minus: the numbers are taken away
backend_sim/sum.c
-         total = total + i;
-     if (n < -5)
+         total = total - i;
+     if (n < -5)

== sum-far: what lies further down
backend_sim/sum.c
- < -5
+ < -6

== sum-unused: a warning is not an error
backend_sim/sum.c
-     int total = 0;
+     int total = 0, unused;
+     total += 1;
END
cp ci/sabotage "$tree/ci/"
by_hand() {
    (cd "$tree" && ci/sabotage --build out --quick --jobs 1 "$@") >"$said" 2>&1
}
by_hand
[ $? = 1 ] && sums '3 mutants: 2 killed, 0 equivalent by the compiler, 0 listed as equivalent, 1 survived'
ok $? 'of mistakes by hand, too, one that no test notices is a failure'
grep -q '^ok 1 - killed sum-minus: the numbers are taken away (backend_sim/sum.c:7) by out/.*: 1 - the sum$' "$said" &&
    grep -q '^not ok 2 - survived sum-far: .*sum.c:8)$' "$said" && grep -qx '#   again: make sabotage ONLY=sum-far' "$said" &&
    grep -q '^ok 3 - killed sum-unused' "$said"
ok $? 'each with its name, of one line or of several, warnings or not'
by_hand --reach --only '^sum-m'
sums '1 mutants: 1 killed, 0 equivalent by the compiler, 0 listed as equivalent, 0 survived' &&
    grep -q '^ok 1 - killed sum-minus' "$said"
ok $? 'one alone, and when it was measured where tests go'
by_hand --every 2
grep -q '^1..2$' "$said" && ! grep -q sum-far "$said"
ok $? 'and every second'
sed -i 's/unused;/unused$;@/' "$tree/ci/sabotage.list"
by_hand --only sum-unused
[ $? = 1 ] && grep -q '^not ok 1 - invalid sum-unused.*does not compile' "$said" && sums '1 mutants: .* 0 survived, 1 cannot be built'
ok $? 'what does not compile is a failure: no test could notice'
"$tree/ci/sabotage" --check >"$said" 2>&1 && [ "$("$tree/ci/sabotage" --list | wc -l)" = 3 ]
ok $? 'they fit the sources'
sed -i 's/^-         total = total + i;/-         total = total + 1;/; s/^- < -5/- total/' "$tree/ci/sabotage.list"
"$tree/ci/sabotage" --check >"$said" 2>&1
[ $? = 1 ] && grep -q 'sabotage.list:2: sum-minus: its text stands 0 times in backend_sim/sum.c, not once' "$said" &&
    grep -q 'sum-far: its text stands [5-9] times' "$said"
ok $? 'or are named, where they do not'
printf '%s\n' '== sum-far: again' 'backend_sim/sum.c' '- < -5' >>"$tree/ci/sabotage.list"
"$tree/ci/sabotage" --check >"$said" 2>&1
[ $? = 2 ] && grep -q 'sum-far: two rows have this name' "$said"
ok $? 'and have names of their own'

cp "$tree/backend_sim/sum.c" "$tree/Makefile" "$work/"
printf '#define FIRST 0\n' >"$tree/backend_sim/sum.h"
sed -i -e '1i #include "sum.h"' -e 's/int i = 0/int i = FIRST/' "$tree/backend_sim/sum.c"
mkdir "$tree/backend_sim/two"
echo 'int main(void) { return 2 - 2; }' >"$tree/backend_sim/two/two.c"
cat >"$tree/backend_sim/two_test.sh" <<'END'
#!/bin/sh
cc -o "$TMPDIR/two" backend_sim/two/two.c || exit
"$TMPDIR/two" && echo 'ok 1 - two' || echo 'not ok 1 - two'
echo 1..1
END
chmod +x "$tree/backend_sim/two_test.sh"
sed -i -e 's/-O2 -Wall/-MMD -O2 -Wall/' -e 's,@echo .*again,& backend_sim/two_test.sh,' "$tree/Makefile"
make -s -B -C "$tree" BUILD=out check-build || exit 1
cat >"$tree/ci/sabotage.list" <<'END'
== sum-first: it begins later
backend_sim/sum.h
- 0
+ 2

== two-one: one
backend_sim/two/two.c
- 2 - 2
+ 2 - 1
END
by_hand
grep -q '^ok 1 - killed sum-first: .*sum.h:1) by .*the sum$' "$said"
ok $? 'one in a header is in what includes it'
grep -q '^ok 2 - killed two-one: .* by backend_sim/two_test.sh: 1 - two$' "$said" && grep -q '2 - 2' "$tree/backend_sim/two/two.c"
ok $? 'one in what a script compiles is where the script looks, and nowhere else'

cat >"$tree/judge" <<'END'
#!/bin/sh
# judge FOLDER SOURCE FILE KEY=TEXT
if grep -q '2 - 1' "$2" && [ "$3" = backend_sim/two/two.c ] && [ "$4" = 'point=a point' ]; then
    echo 'not ok 1 - caught as two'
else
    echo 'ok 1 - no'
fi
echo 1..1
END
chmod +x "$tree/judge"
sed -i '/two.c$/a point a point' "$tree/ci/sabotage.list"
by_hand --only two --judge judge
sums '1 mutants: 1 killed, .*' && grep -q 'by judge: caught as two$' "$said"
ok $? 'a list may have a judge of its own'
sed -i 's/a point/another/' "$tree/ci/sabotage.list"
by_hand --only two --judge judge
[ $? = 1 ] && sums '1 mutants: 0 killed, .* 1 survived' && grep -q '^#   | ok 1 - no$' "$said"
ok $? 'of which all is shown that it prints'
sed -i 's/^echo 1..1/exit 3/' "$tree/judge"
by_hand --only two --judge judge
[ $? = 1 ] && sums '1 mutants: 0 killed, .* 1 survived'
ok $? 'and one that breaks down has caught nothing'
cp "$work/sum.c" "$tree/backend_sim/"
cp "$work/Makefile" "$tree/"
make -s -B -C "$tree" BUILD=out check-build || exit 1

if ci/mutation/box --closed; then
    sed -i 's/getenv("MUTATE_TEST_ESCAPE")/"'"${work//\//\\/}"'\/escaped"/' "$tree/backend_sim/sum_test.c"
    make -s -C "$tree" BUILD=out check-build || exit 1
    echo '7 total = total - i;' >"$work/proposed"
    mutate
    sums '1 mutants: 1 killed, 0 equivalent by the compiler, 0 listed as equivalent, 0 survived' && [ ! -e "$work/escaped" ]
    ok $? 'a mutant writes nowhere else'
else
    skip 'a mutant writes nowhere else' 'no user namespaces here'
fi

sed -i 's/&& escape/\&\& 0/; s/got == 6/got == 7/; s/got != 6/got != 7/g' "$tree/backend_sim/sum_test.c"
make -s -C "$tree" BUILD=out check-build || exit 1
echo '7 total = total - i;' >"$work/proposed"
mutate
left="$(grep -n '^# fails (1 - the sum) on the engine as it is, and is left out: .*sum_test$' "$said" | cut -d: -f1)"
at="$(grep -n '^not ok 1 - survived' "$said" | cut -d: -f1)"
[ -n "$left" ] && [ -n "$at" ] && [ "$left" -lt "$at" ] && grep -q '^# 2 tests were left out' "$said"
ok $? 'a test that fails without a mutant proves nothing, which is printed before the verdict'
finish
