#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recorded_test.sh: what ci/recorded lets pass and what it does not. TAP.
. ci/test_head.sh

# compares EXCEPTIONS OURS RECORDED...: each a text with | for a new line and ; for a tab. What is printed is in $printed.
compares() {
    local number=0 text files=()
    for text in "$@"; do
        number=$((number + 1))
        printf '%s\n' "$text" | tr '|;' '\n\t' >"$work/$number"
        files+=("$work/$number")
    done
    printed=$(ci/recorded h100-copies "${files[@]}")
}

passes() { # passes WHAT...: what compares is given
    compares "${@:2}"
    ok $? "$1"
}

fails() { # fails WHAT LINE...: LINE is among what is printed
    if compares "${@:3}" || ! printf '%s\n' "$printed" | grep -qF -- "$2"; then
        printf '%s\n' "$printed" | sed 's/^/# /'
        ok 1 "$1"
    else
        ok 0 "$1"
    fi
}

same='a.1;SUCCESS|a.2;SUCCESS 3'
passes 'answers that are equal' '' "$same" "$same"
fails 'an answer that differs' '# a.2: recorded SUCCESS 4, here SUCCESS 3' '' "$same" 'a.1;SUCCESS|a.2;SUCCESS 4'
fails 'one that is missing here' '# a.3: recorded SUCCESS, here nothing' '' "$same" "$same|a.3;SUCCESS"
fails 'one that was not recorded' '# a.2: recorded nothing, here SUCCESS 3' '' "$same" 'a.1;SUCCESS'
fails 'nothing at all' 'not ok 1' '' '# none' '# none'
passes 'a later file says what is different there' '' "$same" 'a.1;SUCCESS|a.2;SUCCESS 4' 'a.2;SUCCESS 3'

differ='a.1;SUCCESS|a.2;SUCCESS 4'
passes 'a difference that has a reason' '*-copies;a.2;so it is' "$same" "$differ"
fails 'a reason for another recording' '# a.2: recorded' '*-edges;a.2;so it is' "$same" "$differ"
fails 'an exception that nothing needs' '# nothing needs the exception for a.2' '*-copies;a.2;so it is' "$same" "$same"
fails 'an exception that an equal answer falls under' '# the exception for a.* is too wide: a.1 is as recorded' '*-copies;a.*;so it is' \
    "$same" "$differ"
passes 'what varies may be equal' 'h100-copies;a.?;varies: by chance' "$same" "$same"

# The choices of { }, whose separator is the one of lines above.
printf 'h100-copies\ta.{2|3+}.x\tso it is\n' >"$work/chosen"
printf 'a.2.x\t1\na.3+.x\t1\na.4.x\t1\n' >"$work/ours"
printf 'a.2.x\t2\na.3+.x\t2\na.4.x\t1\n' >"$work/there"
ci/recorded h100-copies "$work/chosen" "$work/ours" "$work/there" >"$work/said"
ok $? 'an exception names some of several'
printf 'a.2.x\t2\na.33.x\t2\na.4.x\t1\n' >"$work/there"
printf 'a.2.x\t1\na.33.x\t1\na.4.x\t1\n' >"$work/ours"
! ci/recorded h100-copies "$work/chosen" "$work/ours" "$work/there" >"$work/said" && grep -q '^# a.33.x: recorded 2, here 1' "$work/said"
ok $? 'and no others'

passes 'where the driver crashed a refusal is as good' '' 'a.1;SUCCESS|c.1;INVALID_VALUE' 'a.1;SUCCESS|c.1!;SIGNAL 11'
fails 'and nothing else is' '# c.1!: recorded SIGNAL 11, here SUCCESS' '' 'a.1;SUCCESS|c.1;SUCCESS' 'a.1;SUCCESS|c.1!;SIGNAL 11'
fails 'nor a crash where the driver refused' '# c.1: recorded INVALID_VALUE, here SIGNAL 11' '' 'a.1;SUCCESS|c.1!;SIGNAL 11' \
    'a.1;SUCCESS|c.1;INVALID_VALUE'
fails 'nor what was asked once more than there' '# a.1#2: recorded nothing, here SUCCESS' '' 'a.1;SUCCESS|a.1;SUCCESS' 'a.1;SUCCESS'
fails 'nor once less' '# a.1#2: recorded SUCCESS, here nothing' '' 'a.1;SUCCESS' 'a.1;SUCCESS|a.1;SUCCESS'
passes 'an exception names the second answer by an id' '*;a.1#2;so it is' 'a.1;SUCCESS|a.1;2' 'a.1;SUCCESS|a.1;3'
passes 'nothing is compared of a group that was not asked' '' 'a.1;SUCCESS|b.1;SUCCESS' 'a.1;SUCCESS'

# Lines that agree without being equal.
relation() { # relation yes|no ID RECORDED HERE [RECORDING]: whether they agree
    printf 'c.c\tSUCCESS\n%s\t%s\n' "$2" "$3" >"$work/there"
    printf 'c.c\tSUCCESS\n%s\t%s\n' "$2" "$4" >"$work/ours"
    if ci/recorded "${5-h100-first}" /dev/null "$work/ours" "$work/there" >"$work/said"; then agrees=yes; else agrees=no; fi
    [ "$agrees" = "$1" ]
    ok $? "$2: $3 $([ "$1" = yes ] && echo agrees with || echo differs from) $4"
}
relation yes map.full SUCCESS SUCCESS
relation no map.full SUCCESS INVALID_VALUE
relation yes handle.v1 =558980ce9480 =8
relation no handle.v1 =558980ce9480 =0
relation yes reserve.g 'SUCCESS p=7f8a33e00000 hint=0 ctz=21' 'SUCCESS p=200000 hint=0 ctz=21'
relation no reserve.g 'SUCCESS p=7f8a33e00000 hint=0 ctz=21' 'SUCCESS p=210000 hint=0 ctz=16'
relation no reserve.g 'SUCCESS p=7f8a33e00000 hint=0 ctz=21' 'OUT_OF_MEMORY p=77 hint=0 ctz=0'
relation yes reserve.h 'SUCCESS p=400000 hint=400000 ctz=22' 'SUCCESS p=800000 hint=800000 ctz=23'
relation no reserve.h 'SUCCESS p=400000 hint=400000 ctz=22' 'SUCCESS p=800000 hint=400000 ctz=23'
relation no reserve.h 'SUCCESS p=800000 hint=400000 ctz=23' 'SUCCESS p=400000 hint=400000 ctz=22'
relation yes reserve.0 'INVALID_VALUE p=77 hint=0 ctz=0' 'INVALID_VALUE p=77 hint=0 ctz=0'
relation no reserve.0 'INVALID_VALUE p=77 hint=0 ctz=0' 'INVALID_VALUE p=0 hint=0 ctz=0'
relation yes reserve.seq '=a=1 b=2 c=3 b-a=1' '=a=1000000 b=2000000 c=3000000 b-a=1000000'
relation no reserve.seq '=a=1 b=2 c=3 b-a=1' '=a=1000000 b=1600000 c=3000000 b-a=600000'
relation yes reserve.reuse '=1 (7f 7f)' '=1 (2a 2a)'
relation no reserve.reuse '=1 (7f 7f)' '=0 (2a 2b)'
relation yes ptr.reserved.mapbase 'INVALID_VALUE off=12920553472' 'INVALID_VALUE off=17592186044416'
relation no ptr.reserved.mapbase 'INVALID_VALUE off=12920553472' 'SUCCESS off=17592186044416'
relation no ptr.reserved.mapbase 'INVALID_VALUE off=12920553472' 'INVALID_VALUE off=17592186044417'
relation no ptr.mapped.mapbase 'SUCCESS off=2097157' 'SUCCESS off=4194309'
relation yes ptr.HOST.addrrange 'SUCCESS off=140231630127104 n/G=2' 'SUCCESS off=17592186044416 n/G=2'
relation no ptr.HOST.addrrange 'SUCCESS off=140231630127104 n/G=2' 'SUCCESS off=17592186044416 n/G=4'
relation no ptr.HOST.addrrange 'SUCCESS off=140231630127104 n/G=2' 'SUCCESS off=0 n/G=2'
relation yes G.hint.200000.size1G 'SUCCESS usual' 'SUCCESS given' h100-edges
relation no G.hint.200000.size1G 'SUCCESS usual' OUT_OF_MEMORY h100-edges
relation yes G.sequence 'size=1G at=7f92 from_last+37G' 'size=1G at=1000 from_last+1G' h100-edges
relation no G.sequence 'size=1G at=7f92 from_last+37G' 'size=2G at=7f92 from_last+37G' h100-edges
relation yes I.rw.attr7 'SUCCESS bytes=8 =39f' 'SUCCESS bytes=8 =6' h100-edges
relation no I.rw.attr7 'SUCCESS bytes=8 =39f' 'SUCCESS bytes=8 =0' h100-edges
relation no I.rw.attr7 'SUCCESS bytes=8 =39f' 'SUCCESS bytes=4 =6' h100-edges
relation yes I.identity.x 'cumemalloc=3d next=3e interior_same=1' 'cumemalloc=4 next=5 interior_same=1' h100-edges
relation no I.identity.x 'cumemalloc=3d next=3e interior_same=1' 'cumemalloc=4 next=5 interior_same=0' h100-edges
relation yes I.identity.x 'value=32 same: interior=1' 'value=1 same: interior=1' h100-edges
relation no I.identity.x 'value=32 same: interior=1' 'value=32 same: interior=0' h100-edges

# What is refused is explained, for the driver's reason, and where the driver crashed by a rule about that.
explains() { # explains yes|no WHAT RULE ID RECORDED [HERE]
    printf 'c.c\tSUCCESS\n%s\n' "$5" | tr ';' '\t' >"$work/there"
    printf 'error %s: cuMemMap (call 1) -> CUDA_ERROR_INVALID_VALUE\n%s%s\t%s\nc.c\tSUCCESS\n' "$3" "${FIX-  fix       x
}" "$4" "${6-INVALID_VALUE}" >"$work/ours"
    if EXPLAINED=1 ci/recorded h100-first /dev/null "$work/ours" "$work/there" >"$work/said"; then agrees=yes; else agrees=no; fi
    [ "$agrees" = "$1" ]
    ok $? "$2"
}
explains yes 'a refusal with its rule' VMM-MAP-SIZE-ZERO map.size0 'map.size0;INVALID_VALUE'
FIX='' explains no 'not without a fix' VMM-MAP-SIZE-ZERO map.size0 'map.size0;INVALID_VALUE'
explains no 'not without a rule' nothing map.size0 'map.size0;INVALID_VALUE'
explains no 'not with another result' VMM-MAP-SIZE-ZERO map.size0 'map.size0;NOT_FOUND' NOT_FOUND
printf 'map.size0\tParameter size cannot be 0\n' >"$work/words"
export WORDS=$work/words
explains yes 'the reason in the log' VMM-MAP-SIZE-ZERO map.size0 'map.size0;INVALID_VALUE'
explains no 'another reason' VMM-MAP-SIZE-WHOLE map.size0 'map.size0;INVALID_VALUE'
printf 'map.size0\tWords never heard\n' >"$work/words"
explains no 'words that no row knows' VMM-MAP-SIZE-ZERO map.size0 'map.size0;INVALID_VALUE'
unset WORDS
explains yes 'a crash that the rules know' VMM-PROPERTIES-HANDLE-FORGED props.hbad 't_hbad!;SIGNAL 11'
explains no 'a crash that they do not know' VMM-PROPERTIES-HANDLE-ZERO props.hbad 't_hbad!;SIGNAL 11'
finish
