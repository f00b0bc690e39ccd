#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shells themselves: bash, zsh and fish complete `cuvmm` with the scripts that it prints. A shell that is not there is
# skipped. And the manual page, by what checks such pages.
set -u
build=${CUVMM_BUILD-build}
build=$(cd "$build" && pwd)
cuvmm=$build/bin/cuvmm
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
points=0 failures=0

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" = 0 ]; then echo "ok $points - $2"; else
        failures=$((failures + 1))
        echo "not ok $points - $2"
        sed 's/^/#   /' "$work/said" 2>/dev/null
    fi
}

skip() { # skip NAME WHY
    points=$((points + 1))
    echo "ok $points - $1 # SKIP $2"
}

# in_bash LINE: what readline would be given, with the words that it breaks at "=" and ":".
in_bash() {
    bash --norc -c 'source <("$1" completion bash); COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$'"' \\t\\n\"\\'><=;|&(:'"'
        compopt() { :; }; _cuvmm; printf "%s\n" "${COMPREPLY[@]}"' - "$cuvmm" "$1" >"$work/said" 2>&1
}

says() { # says WORD...: exactly these lines were printed
    printf '%s\n' "$@" | diff - "$work/said" >"$work/diff" && return
    cat "$work/diff" >>"$work/said"
    return 1
}

in_bash 'cuvmm prof' && says profiles
point $? 'bash: a command'
in_bash 'cuvmm explain VMM-MAP-OVER' && says VMM-MAP-OVERLAP
point $? 'bash: a rule'
in_bash 'cuvmm run --backend sim:h' && says h100 h200 h200x2 h200x4
point $? 'bash: of what holds a colon, what lies behind it'
in_bash 'cuvmm check --leaks=' && says yes no full
point $? 'bash: of what holds a =, what lies behind it'
in_bash 'cuvmm run ' && says ''
point $? 'bash: nothing of ours where a file is meant'

if command -v zsh >/dev/null; then
    mkdir -p "$work/functions"
    "$cuvmm" completion zsh >"$work/functions/_cuvmm"
    zsh -f -c 'fpath=('"$work"'/functions $fpath); autoload -Uz compinit; compinit -D -u; print -r -- $_comps[cuvmm]' >"$work/said" 2>&1
    says _cuvmm
    point $? 'zsh: it is found where functions are'
    # _describe is asked for what it would be given; a terminal is not needed for that.
    zsh -f -c 'compdef() { :; }; _files() { print files; }; _describe() { print -rl -- $plain; print -rl -- $open; }
        source '"$work"'/functions/_cuvmm
        words=(cuvmm profiles od); CURRENT=3; _cuvmm; words=(cuvmm run --backend sim:od); CURRENT=4; _cuvmm
        words=(cuvmm run ""); CURRENT=3; _cuvmm' >"$work/said" 2>&1
    sed -i '/^$/d' "$work/said"
    says 'odd:a simulated machine' 'sim\:odd:a simulated machine' files
    point $? 'zsh: a profile, a machine with its colon, a file'
else
    skip 'zsh' 'no zsh'
fi

if command -v fish >/dev/null; then
    fish --no-config -c 'source ('"$cuvmm"' completion fish | psub); complete -C "cuvmm explain VMM-MAP-OVER"; complete -C "cuvmm prof"
        complete -C "cuvmm run --backend sim:od"' 2>&1 | cut -f 1 >"$work/said"
    says VMM-MAP-OVERLAP profiles sim:odd
    point $? 'fish: a rule, a command, a machine'
    mkdir "$work/here" && : >"$work/here/mine.vmm"
    (cd "$work/here" && fish --no-config -c 'source ('"$cuvmm"' completion fish | psub); complete -C "cuvmm run mi"' 2>&1 | cut -f 1) >"$work/said"
    says mine.vmm
    point $? 'fish: a file'
else
    skip 'fish' 'no fish'
fi

"$cuvmm" help --man >"$work/cuvmm.1"
pages=("$work/cuvmm.1" packaging/man/libcuvmm.3 packaging/man/cuvmm-libcuda.7)
for page in "${pages[@]}"; do
    name=$(basename "$page")
    if command -v man >/dev/null && command -v groff >/dev/null; then
        LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>"$work/said" >/dev/null && [ ! -s "$work/said" ]
        point $? "$name: man has no warning"
    else
        skip "$name: man" 'no man, or no groff'
    fi
    # Pages carry the version and no date, so that a build of the same sources is the same page.
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" 2>&1 | grep -v 'missing date' >"$work/said"
        [ ! -s "$work/said" ]
        point $? "$name: nor has mandoc"
    else
        skip "$name: mandoc" 'no mandoc'
    fi
done
echo "1..$points"
[ "$failures" -eq 0 ]
