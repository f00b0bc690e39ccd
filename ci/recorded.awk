# SPDX-License-Identifier: Apache-2.0
# recorded.awk: the implementation of ci/recorded.

# ---- patterns ----

function pattern(glob,    text, i, c, choice) {
    for (i = 1; i <= length(glob); i++) {
        c = substr(glob, i, 1)
        choice = c == "{" || choice && c != "}"
        text = text (c == "*" ? ".*" : c == "?" ? "." : c == "{" ? "(" : c == "}" ? ")" : choice && c == "|" ? "|" : \
            c ~ /[][.+()|^$\\{}]/ ? "\\" c : c)
    }
    return "^" text "$"
}
# A matching text begins with this many characters, where ? stands for any.
function beginning(glob) {
    sub(/[*{].*/, "", glob)
    return substr(glob, 1, BEGINNING)
}

# ---- relations: each decides whether two different results agree nevertheless ----

function number(hex,    value, i) {
    for (i = 1; i <= length(hex); i++)
        value = value * 16 + index("123456789abcdef", substr(hex, i, 1))
    return value + 0
}
# The offset in its 2 MiB granule.
function low(address) { return address % 2097152 }
function rest(text) { return index(text, " ") ? substr(text, index(text, " ")) : "" }
function field(text, name,    part) {
    if (!match(text, "(^| |=)" name "=[0-9a-f]+"))
        return ""
    part = substr(text, RSTART, RLENGTH)
    sub(/^.*=/, "", part)
    return part
}
# "SUCCESS p=7f8a38800000 hint=7f8a38800000 ctz=23"
function same_reservation(there, here,    p, q, hint, hinted) {
    if (word(there) != word(here) || field(here, "p") == "")
        return 0
    p = number(field(there, "p")); q = number(field(here, "p"))
    hint = number(field(there, "hint")); hinted = number(field(here, "hint"))
    if (!hint != !hinted || low(hint) != low(hinted))
        return 0
    if (word(there) != "SUCCESS")
        return p == q && field(there, "ctz") == field(here, "ctz")
    return low(p) == low(q) && (p == hint) == (q == hinted)
}
function apart(a, a_size, b, b_size) { return a < b ? b - a >= a_size * 2097152 : a - b >= b_size * 2097152 }
# "=a=7f8a38800000 b=7f8a39000000 c=7f8a33e00000 b-a=8388608": 4 G, 4 G and G bytes long
function same_sequence(here,    a, b, c) {
    a = number(field(here, "a")); b = number(field(here, "b")); c = number(field(here, "c"))
    return a && b && c && !low(a) && !low(b) && !low(c) && apart(a, 4, b, 4) && apart(a, 4, c, 1) && apart(b, 4, c, 1)
}
# "SUCCESS off=140231630127104 n/G=2": the offset is the address itself where an output was 0
function same_offset(there, here,    a, b) {
    a = field(there, "off"); b = field(here, "off")
    sub(/ off=[0-9]+/, "", there); sub(/ off=[0-9]+/, "", here)
    return there == here && b + 0 >= 2097152 && low(a + 0) == low(b + 0)
}
function word(text) { sub(/ .*/, "", text); return text }
# "SUCCESS bytes=8 =39f": numbers that name a thing are 0 or not, all before them is equal
function same_name(there, here,    a, b) {
    a = there; b = here
    sub(/^.* =?/, "", a); sub(/^.* =?/, "", b)
    sub(/ [^ ]*$/, "", there); sub(/ [^ ]*$/, "", here)
    return there == here && !number(a) == !number(b)
}
# Hexadecimal numbers of a name's own become #: "alias=# other=# same=1"
function without_numbers(text,    parts, count, i, all) {
    count = split(text, parts, "=")
    all = parts[1]
    for (i = 2; i <= count; i++) {
        if (parts[i - 1] !~ /same$/)
            sub(/^[0-9a-f]+/, "#", parts[i])
        all = all "=" parts[i]
    }
    return all
}
# A fault that is there at once here, and on a driver when it is noticed: there it was still waiting. All words before it are equal.
function noticed_later(there, here,    a, b, i, n) {
    n = split(there, a, " ")
    split(here, b, " ")
    for (i = 1; i <= n && (a[i] == b[i] || a[i] == "behind=SUCCESS" && b[i] ~ /^behind=(LAUNCH_FAILED|ILLEGAL_ADDRESS)$/); i++)
        ;
    return a[i] ~ /^(|then=|between=)(WAITS|NOT_READY)$/ && b[i] ~ /^(|then=|between=)(LAUNCH_FAILED|ILLEGAL_ADDRESS)$/
}
function begins(text, start) { return substr(text, 1, length(start)) == start }
function before(text, mark) { return index(text, mark) ? substr(text, 1, index(text, mark) - 1) : text }
function agree(relation, there, here) {
    if (relation == "reservation") return same_reservation(there, here)
    if (relation == "sequence") return same_sequence(here)
    if (relation == "handle") return !number(substr(there, 2)) == !number(substr(here, 2))
    if (relation == "offset") return same_offset(there, here)
    if (relation == "word") return word(there) == word(here)
    if (relation == "name") return same_name(there, here)
    if (relation == "numbers") return without_numbers(there) == without_numbers(here)
    if (relation == "value") return rest(there) != "" && rest(there) == rest(here)
    if (relation == "at") return begins(here, before(there, " at="))
    if (relation == "given") return begins(here, before(there, " given="))
    if (relation == "later") return noticed_later(there, here)
    if (relation == "any") return here != ""
    printf "# no such relation: %s\n", relation
    return 0
}
# The first row that fits decides.
function related(id, there, here,    i) {
    for (i = 1; i <= relations; i++)
        if (id ~ relation_id[i] && there ~ relation_there[i])
            return agree(relation[i], there, here)
    return 0
}

# ---- verdicts ----

function verdict(id, what) { if (verdicts != "") printf "%s\t%s\n", id, what >verdicts }
function plain(id) { sub(/\034.*/, "", id); return id }
function numbered(id) { sub(/\034/, "#", id); return id } # "J.fall#2" is the second of that id
function excepted(id,    i) {
    for (i = 1; i <= rows; i++)
        if (id ~ glob[i]) {
            used[i]++
            return ++excused
        }
    return 0
}
# What is wrong comes behind the verdict, where a summary of failures shows it.
function wrong(text) { problems = problems "# " text "\n" }
function problem(text) { if (++different <= shown) wrong(text) }
function differs(id, there, here) {
    if (excepted(numbered(id))) { verdict(numbered(id), "excepted"); return }
    problem(numbered(id) ": recorded " there ", here " here)
    verdict(numbered(id), "differs")
}
# The strict exceptions that ids with this beginning may fall under: most of them can be told by it, and need no further look.
function near(start,    i, first) {
    if (!(start in nearby)) {
        nearby[start] = ""
        for (i = 1; i <= strict; i++) {
            first = beginning(strict_row[i])
            if (substr(start, 1, length(first)) ~ pattern(first))
                nearby[start] = nearby[start] " " i
        }
    }
    return nearby[start]
}
# An exception that is too wide would hide what goes wrong one day.
function equals(id,    at, i, some) {
    equal++
    id = numbered(id)
    verdict(id, "equal")
    for (at = split(near(substr(id, 1, BEGINNING)), some, " "); at; at--) {
        i = some[at]
        if (id ~ strict_glob[i]) {
            if (wide[i]++ < 3) wrong("the exception for " strict_row[i] " is too wide: " id " is as recorded")
            too_wide++
        }
    }
}
# Is one of the answers of a line a refusal? "SUCCESS; INVALID_VALUE; SUCCESS 7"
function refuses(answer) {
    answer = "; " answer
    gsub(/; SUCCESS[^;]*/, "", answer)
    return answer != ""
}
# Whether one of the refusals before the answer was by a rule about a crash; without explanations that is unknown.
function by_crashing(id,    heard, count, i) {
    if (must_explain != 1) return refuses(here[id])
    count = split(explanations[id], heard, " ")
    for (i = 1; i <= count; i++)
        if (index(crashing, "\n" heard[i] "\n"))
            return 1
    return 0
}
# The group that ended in a crash there and went on here: "T.inside!" of T.inside.destroy, or "".
function crashed(id) {
    for (id = plain(id); id != ""; )
        if ((id "!") in there && there[id "!"] ~ /^SIGNAL/) return id "!"
        else if (!sub(/[.][^.]*$/, "", id)) id = ""
    return ""
}
# Where the driver died, the call is refused here, and the program goes on.
function go_on(    n, i, id, name) {
    for (n = 1; n <= answers; n++) {
        id = ours[n]
        if (id in there || (name = crashed(id)) == "")
            continue
        if (!(name in refused) && !(name in here))
            refused[name] = by_crashing(id) ? 1 : 0
        seen[id]
    }
    for (i = 1; i <= relations; i++)
        if (relation[i] ~ /^refused:/) {
            id = substr(relation[i], 9)
            for (name in there)
                if (name ~ relation_id[i] && id in here) { refused[name] = by_crashing(id); seen[id] }
        }
}
function explained(id,    text, code) {
    code = word(here[id])
    if (!index(codes, "\n" code "\n") || code ~ /^(SUCCESS|NOT_READY)$/)
        return
    refusals++
    text = explanations[id]
    if (index(text, " " code " ") && text ~ /VMM-[A-Z0-9-]+/ && !index(text, "without a fix"))
        explained_well++
    else if (!excepted(plain(id) " (explanation)"))
        problem(plain(id) ": " here[id] " without a whole explanation:" (text == "" ? " none" : text))
}
# A line of an explanation, from "error VMM-MAP-OVERLAP: cuMemMap (call 7) -> CUDA_ERROR_INVALID_VALUE" on, which may be two.
function hear(line,    part) {
    if (line ~ /^error /) {
        if (!fixed) problem("an explanation without a fix, before " line)
        explained_calls += line ~ /^error VMM-/
        split(line, part, " ")
        sub(/:$/, "", part[2])
        heard = heard " " part[2]
        coded = 0
        fixed = line !~ /^error VMM-/ # the library itself refuses without a rule
    }
    if (!coded && match(line, /CUDA_(ERROR_)?[A-Z_]+$/)) {
        line = substr(line, RSTART + 5)
        sub(/^ERROR_/, "", line)
        heard = heard " " line " "
        coded = 1
    }
    if (line ~ /^  fix /)
        fixed = 1
}
function reason_fits(id,    i, rules, count, n) {
    count = split(explanations[id], rules, " ")
    for (i = 1; i <= reasons; i++)
        if (words[id] ~ reason_words[i])
            for (n = 1; n <= count; n++)
                if (rules[n] ~ reason_rule[i])
                    return 1
    return 0
}

# ---- files ----

BEGIN { fixed = 1; BEGINNING = 8 }
FNR == 1 { for (id in times) delete times[id]; files += stage == "recorded" }
/^#/ { next }
stage == "ours" && !index($0, "\t") {
    hear($0)
    next
}
{
    answer = substr($0, length($1) + 2)
    id = $1 (times[$1]++ ? "\034" times[$1] : "")
}
stage == "exceptions" && recording ~ pattern($1) {
    glob[++rows] = pattern($2); row[rows] = $2; reason[rows] = $3
    if ($3 !~ /^varies:/) { strict_glob[++strict] = glob[rows]; strict_row[strict] = $2 }
}
stage == "relations" && recording ~ pattern($1) {
    relation_id[++relations] = pattern($2); relation_there[relations] = pattern($3); relation[relations] = $4
}
stage == "reasons" { reason_words[++reasons] = pattern($1); reason_rule[reasons] = pattern($2) }
stage == "words" { words[$1] = answer }
stage == "ours" {
    ours[++answers] = id
    here[id] = answer
    explanations[id] = heard (fixed ? "" : " without a fix")
    heard = ""
    fixed = 1
}
stage == "recorded" {
    if (!(id in there)) order[++lines] = id
    there[id] = answer
    if (index($1, ".")) group[before($1, ".")]
}

END {
    go_on()
    for (n = 1; n <= lines; n++) {
        id = order[n]
        if (id in here && here[id] == there[id]) equals(id)
        else if (id in here && related(plain(id), there[id], here[id])) { alike++; verdict(numbered(id), "agrees") }
        else if (refused[id]) { crashes++; verdict(numbered(id), "refused") }
        else {
            asked = id; sub(/!$/, "", asked)
            differs(id, there[id], id in here ? here[id] : asked in here ? here[asked] : (id "!") in here ? here[id "!"] : "nothing")
        }
        seen[id]; seen[id "!"]
    }
    for (id in here) {
        if (must_explain) explained(id)
        if (id in seen) continue
        if (index(id, ".") && !(before(id, ".") in group)) unasked++
        else if (files > 1 && here[id] == there[plain(id)]) continue # such recordings have an id once
        else differs(id, "nothing", here[id])
    }
    for (id in words) {
        reasons_heard++
        if (reason_fits(id)) { same_reasons++; verdict(id " (reason)", "equal") }
        else if (excepted(id " (reason)")) verdict(id " (reason)", "excepted")
        else problem(id ": the driver refuses it for \"" words[id] "\", here:" (explanations[id] == "" ? " nothing" : explanations[id]))
    }
    for (i = 1; i <= rows; i++)
        if (used[i]) printf "# %d: %s: %s\n", used[i], row[i], reason[i]
        else if (reason[i] !~ /^varies:/) { stale++; wrong("nothing needs the exception for " row[i]) }
    printf "# %d recorded answers: %d equal, %d alike, %d where the driver crashes and this refuses, %d excepted, %d other, %d not asked there\n",
        lines, equal, alike, crashes, excused, different, unasked
    if (must_explain) printf "# %d calls explained; of %d refusals %d; %d of %d for the reason in the driver's log\n",
        explained_calls, refusals, explained_well, same_reasons, reasons_heard
    failed = different > 0 || stale > 0 || too_wide > 0 || !equal || must_explain && !explained_well
    print (failed ? "not " : "") "ok 1 - answers are as recorded: " recording
    printf "%s", problems
    print "1..1"
    exit failed
}
