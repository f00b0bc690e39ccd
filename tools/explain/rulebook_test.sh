#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rule book as a page: a parser of HTML that is not ours has nothing to say, every link leads somewhere, nothing is fetched,
# and what a message names is there. From make check: CUVMM_BUILD.
. ci/test_head.sh
cuvmm=$(cd "$build" && pwd)/bin/cuvmm

attribute() { # attribute NAME FILE: each value of the attribute, a line each
    grep -o " $1=\"[^\"]*\"" "$2" | sed 's/^[^"]*"//; s/"$//'
}

parses() { # parses FILE NAME
    if command -v tidy >/dev/null; then
        tidy -quiet -errors "$1" >"$work/said" 2>&1
        ok $? "$2: tidy reads it without a warning" "$work/said"
    elif command -v xmllint >/dev/null; then # knows no element newer than HTML 4
        xmllint --html --noout "$1" 2>&1 | grep 'error :' | grep -Ev 'Tag (nav|main|section|article) invalid' >"$work/said"
        [ ! -s "$work/said" ]
        ok $? "$2: xmllint reads it without an error" "$work/said"
    else
        skip "$2: a parser reads it" "needs tidy or xmllint (ci/setup --all)"
    fi
}

linked() { # linked FILE NAME
    attribute id "$1" | sort >"$work/ids"
    uniq -d "$work/ids" >"$work/said"
    [ -s "$work/ids" ] && [ ! -s "$work/said" ]
    ok $? "$2: no anchor is there twice" "$work/said"
    attribute href "$1" | sort -u >"$work/links"
    sed -n 's/^#//p' "$work/links" | comm -23 - <(uniq "$work/ids") >"$work/said"
    [ -s "$work/links" ] && [ ! -s "$work/said" ]
    ok $? "$2: no link within the page is dead" "$work/said"
    { grep -v '^#' "$work/links"; grep -E ' src=|@import|url\(' "$1"; } >"$work/said"
    [ ! -s "$work/said" ]
    ok $? "$2: nothing is fetched from elsewhere" "$work/said"
}

"$cuvmm" rules --html >"$work/book.html" 2>"$work/said"
ok $? "the page is made" "$work/said"
parses "$work/book.html" "the whole book"
linked "$work/book.html" "the whole book"

"$cuvmm" rules --tsv | sed 1d | cut -f 1 >"$work/rules"
grep '^VMM-' "$work/ids" >"$work/anchors"
sort "$work/rules" | diff - "$work/anchors" >"$work/said"
ok $? "every rule has an anchor that is its id" "$work/said"
grep -c '<h4>Breaks it\|<p>No script can break it' "$work/book.html" | diff - <(wc -l <"$work/rules" | tr -d ' ') >"$work/said"
ok $? "and an example, or why there is none" "$work/said"

grep -qF 'reserved=1&lt;&lt;24' "$work/book.html"
ok $? "what HTML takes for its own is written so that it is text" "$work/said"

sed -n 's/^### //p' docs/rulebook.md | sort | diff - <(sort "$work/rules") >"$work/said"
ok $? "docs/rulebook.md has a heading for each" "$work/said"
sed -n 's/^- \[.*\](#\(.*\))$/\1/p' docs/rulebook.md >"$work/links"
sed -n 's/^## //p' docs/rulebook.md | tr 'A-Z ' 'a-z-' | tr -d "().,'" | diff - "$work/links" >"$work/said"
ok $? "and its contents lead to its headings" "$work/said"

"$cuvmm" rules --html --call cuMemSetAccess >"$work/call.html"
parses "$work/call.html" "the page of one call"
linked "$work/call.html" "the page of one call"

# The parser is asked whether it would notice: a page with an end tag too many is not fine.
sed 's,</article>,</article></dd>,' "$work/book.html" >"$work/broken.html"
if command -v tidy >/dev/null; then
    ! tidy -quiet -errors "$work/broken.html" >"$work/said" 2>&1
    ok $? "a broken page is noticed" "$work/said"
else
    skip "a broken page is noticed" "needs tidy (ci/setup --all)"
fi

# Explained in the terminal, the same examples run as they are printed.
"$cuvmm" explain VMM-FREE-MAPPED --broken | "$cuvmm" run - --brief >"$work/said" 2>&1
[ $? -eq 1 ] && grep -q 'error VMM-FREE-MAPPED' "$work/said"
ok $? "explain --broken, run, is reported by the rule" "$work/said"
"$cuvmm" explain VMM-FREE-MAPPED --corrected | "$cuvmm" run - --brief >"$work/said" 2>&1 && ! grep -q VMM- "$work/said"
ok $? "explain --corrected, run, has no report" "$work/said"
(cd "$work" && "$cuvmm" explain VMM-MAP-SPACE-END --machine >my.profile &&
    "$cuvmm" explain VMM-MAP-SPACE-END --corrected | "$cuvmm" run -) >"$work/said" 2>&1
ok $? "with explain --machine where it needs one" "$work/said"
"$cuvmm" explain VMM-INIT-FORKED --broken >"$work/out" 2>"$work/said"
[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'VMM-INIT-FORKED has no such part' "$work/said"
ok $? "a rule without a script says so" "$work/said"
"$cuvmm" explain INVALID_VALUE --broken >"$work/out" 2>"$work/said"
[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'CUDA_ERROR_INVALID_VALUE is a result' "$work/said"
ok $? "so does a result, which has none" "$work/said"
"$cuvmm" explain VMM-MAP-OVERLAP VMM-MAP-OFFSET >"$work/out" 2>"$work/said"
[ $? -eq 2 ] && grep -q 'one RULE at a time; "VMM-MAP-OFFSET" is a second' "$work/said"
ok $? "two rules at once are refused" "$work/said"

finish
