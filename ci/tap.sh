#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tap.sh - points of a shell test, to be sourced: . ci/tap.sh
#
#   ok STATUS NAME [FILE]       "ok 1 - NAME", or "not ok 1 - NAME" with the text of FILE, a file or a pipe such as <(grep x y); the
#                               default is $said
#   result STATUS NAME TEXT     the same with TEXT
#   skip NAME REASON            "ok 1 - NAME # SKIP REASON"
#   contains TEXT FILE...       has one of the files the text? No process is started for it
#   own_system                  ends the test as skipped where it puts libraries before this machine's programs, which are of another C
#                               library or processor than the build: in a build for musl on Debian, or for arm64 under an emulator
#   without_sanitizer           ends the test as skipped where the library holds a sanitizer, which the test's programs do not
#
#   in_memory FOLDER            prints a new folder for shared machines, in memory where there is such a place, else in FOLDER; a disk's
#                               file system reads ahead where nothing was written, which takes most of such a test's time
#
# points and failures count; the test prints its plan itself.
points=0
failures=0

result() {
    points=$((points + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $points - $2"
    else
        failures=$((failures + 1))
        echo "not ok $points - $2"
        printf '%s\n' "$3" | sed 's/^/#   /'
    fi
}

ok() {
    local file=${3-${said-}} text=''
    if [ "$1" -ne 0 ] && { [ -f "$file" ] || [ -p "$file" ]; }; then
        text=$(head -n 60 "$file")
    fi
    result "$1" "$2" "$text"
}

skip() {
    points=$((points + 1))
    echo "ok $points - $1 # SKIP $2"
}

contains() {
    local text=$1 file
    for file in "${@:2}"; do
        [[ $(<"$file") == *"$text"* ]] 2>/dev/null && return
    done
    return 1
}

in_memory() {
    mktemp -d /dev/shm/cuvmm-test-XXXXXX 2>/dev/null || mktemp -d "$1/machines.XXXXXX"
}

is_own_system() {
    loader_of() { readelf -lW "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)]/\1/p'; }
    local ours theirs
    ours=$(loader_of "${CUVMM_BUILD-build}/bin/cuvmm") theirs=$(loader_of "$(command -v env)")
    [ -z "$ours" ] || [ "$ours" = "$theirs" ]
}

own_system() {
    is_own_system && return
    echo "1..0 # SKIP it puts libraries before programs of this machine, and the build is for another loader"
    exit 0
}

without_sanitizer() {
    if [ -n "${CUVMM_SAN-}" ] && [ "$CUVMM_SAN" != 1 ]; then # 1: coverage, which programs do not notice
        echo "1..0 # SKIP the library holds a sanitizer, the programs do not"
        exit 0
    fi
}
