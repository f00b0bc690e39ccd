#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lessons say what the machine does: each prints what its .out holds, runs as a script, and its page shows lines of that
# .out, names rules that exist, links to pages that exist and contains C that compiles.
#
#     CUVMM_UPDATE=1 conformance/corpus/lessons_test.sh     only writes the .out files anew, to be read before they are committed
#
# From make check: CUVMM_BUILD, CC.
. ci/test_head.sh
lessons=${LESSONS-conformance/corpus/lessons}
cuvmm=$build/bin/cuvmm
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE

# What a lesson prints, its exit status included. Where reserved addresses cost memory, as in an emulator, a line says so first.
tell() { # tell FILE.vmm
    local status
    "$cuvmm" lesson "$1" --all </dev/null 2>&1 | grep -v '^cuvmm: the system gives this program .* of addresses'
    status=${PIPESTATUS[0]}
    echo "exit status $status"
}

update() { # update FILE.vmm
    tell "$1" >"${1%.vmm}.out.new" && mv "${1%.vmm}.out.new" "${1%.vmm}.out"
}

# Every ```text block of a page that is not a run of whole lines of the .out.
strange_blocks() { # strange_blocks PAGE OUT
    awk 'FNR == NR { out = out "\n" $0; next }
        /^```/ { if (in_text && index(out "\n", block "\n") == 0) { print FILENAME ":" start ": not in the .out:" block; bad = 1 }
                 in_text = !in_block && $0 == "```text"; in_block = !in_block; block = ""; start = FNR; next }
        in_text { block = block "\n" $0 }
        END { if (in_block) { print FILENAME ":" start ": a block without an end"; bad = 1 }; exit bad }' "$2" "$1"
}

# Links of a page to missing files.
dead_links() { # dead_links PAGE
    grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^[a-z]*://' | while read -r link; do
        [ -z "$link" ] || [ -e "$lessons/$link" ] || echo "$1: no file $link"
    done
}

# The ```c blocks of a page as files: a block with #include is used unchanged, others become the body of a function.
c_blocks() { # c_blocks PAGE PREFIX
    awk -v prefix="$2" '/^```c$/ { in_c = 1; text = ""; whole = 0; next }
        /^```$/ && in_c { in_c = 0; file = prefix "-" ++n ".c"
            header = text ~ /vmm_/ ? "<cuvmm/vmm.h>" : "<cuda.h>"
            print (whole ? text : "#include " header "\n#include <stdio.h>\nvoid block(void)\n{\n" text "}\n") >file
            close(file); next }
        in_c { text = text $0 "\n"; if ($0 ~ /^#include/) whole = 1 }' "$1"
}

page_test() { # page_test NAME NEXT
    local page=$lessons/$1.md
    strange_blocks "$page" "$lessons/$1.out" >"$work/said"
    ok $? "$1: what the page shows stands in the output"
    grep -o 'VMM-[A-Z0-9-]*[A-Z0-9]' "$page" | LC_ALL=C sort -u | LC_ALL=C comm -23 - "$work/rules" >"$work/said"
    [ ! -s "$work/said" ]
    ok $? "$1: the rules that the page names exist"
    dead_links "$page" >"$work/said"
    if [ -n "$2" ] && ! grep -q "]($2.md)" "$page"; then
        echo "$page: no link to the next lesson, $2.md" >>"$work/said"
    fi
    if ! grep -q "]($1.md)" "$lessons/README.md"; then
        echo "$lessons/README.md: no link to $1.md" >>"$work/said"
    fi
    [ ! -s "$work/said" ]
    ok $? "$1: the page's links lead somewhere, and the next lesson and the contents are linked"
    [ "$(head -n 1 "$page")" = "# $((10#${1%%-*})). $(sed -n '1s/^#@ title: //p' "$lessons/$1.vmm")" ]
    status=$?
    head -n 1 "$page" >"$work/said"
    ok $status "$1: page and script have one title"
    c_blocks "$page" "$work/$1"
}

lesson_test() { # lesson_test NAME NEXT
    local script=$lessons/$1.vmm
    tell "$script" | diff "$lessons/$1.out" - >"$work/said" 2>&1
    ok $? "$1: it prints what is expected"
    "$cuvmm" run "$script" --quiet >"$work/said" 2>&1
    ok $? "$1: it runs as a script"
    {
        "$cuvmm" lesson "$((10#${1%%-*}))" --all </dev/null 2>&1 | grep -v '^cuvmm: the system gives this program .* of addresses' | diff - <(grep -v '^exit status' "$lessons/$1.out") &&
            "$cuvmm" lesson "$1" --page | diff - "$lessons/$1.md"
    } >"$work/said"
    ok $? "$1: the embedded script and page are the same"
    [ "$(grep -c '^#? ' "$script")" -ge 3 ] && [ "$(grep -c '^[^#]*expect [A-Z_]* VMM-' "$script")" -ge 2 ]
    status=$?
    grep -e '^#?' -e '^expect' "$script" >"$work/said"
    ok $status "$1: it asks three questions or more and explains two refusals or more"
    page_test "$1" "$2"
}

if [ -n "${CUVMM_UPDATE-}" ]; then
    for script in "$lessons"/[0-9][0-9]-*.vmm; do
        update "$script" || exit
    done
    exit 0
fi

"$cuvmm" rules --tsv | cut -f 1 | LC_ALL=C sort -u >"$work/rules"
names=()
for script in "$lessons"/[0-9][0-9]-*.vmm; do
    names+=("$(basename "$script" .vmm)")
done
for i in "${!names[@]}"; do
    lesson_test "${names[$i]}" "${names[$((i + 1))]-}"
done
dead_links "$lessons/README.md" >"$work/said"
[ ! -s "$work/said" ]
ok $? 'the links of the contents lead somewhere'

# Files: what is not a text, what is malformed, what another system wrote; and a lesson without a page.
mkdir "$work/files"
printf '#@ title: A\n#@ driver: yes\0\ninit\n' >"$work/files/01-zero.vmm"
"$cuvmm" lesson "$work/files/01-zero.vmm" >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q '01-zero.vmm: a byte 0; a lesson is text$' "$work/said"
ok $? 'a file with a byte 0 is refused'
printf '#@ title: A\n#@ driver: yes\n\n#? B\ninit\n' >"$work/files/01-bad.vmm"
"$cuvmm" lesson "$work/files/01-bad.vmm" >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q '^01-bad.vmm:4: a question has two choices' "$work/said"
ok $? 'a malformed lesson is reported with file and line'
printf '#@ title: A\r\n#@ driver: yes\r\n## B\r\ninit\r\n' >"$work/files/07-other.vmm"
printf '\n' | "$cuvmm" lesson "$work/files/07-other.vmm" --ask >"$work/said" 2>&1 &&
    grep -q '^7\. A$' "$work/said" && grep -q '^\[Enter goes on, q leaves\] > init$' "$work/said"
ok $? 'lines may end as on other systems, and --ask asks without a terminal'
ci/embed-lessons "$work/files" >/dev/null 2>"$work/said"
[ $? -eq 1 ] && grep -q 'every lesson has a page' "$work/said"
ok $? 'a lesson without a page is not embedded'

mkdir "$work/include" && ln -s "$PWD/api" "$work/include/cuvmm"
"${CC-cc}" -std=c11 -Wall -Wextra -Werror -Wno-unused -Iapi/abi -I"$work/include" -fsyntax-only "$work"/*.c >"$work/said" 2>&1
ok $? "the C of the pages compiles ($(find "$work" -name '*.c' | wc -l) blocks)"
finish
