# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of the exercises, to be sourced: compiles the graders, and compiles and grades a solution. From make
# check: CUVMM_BUILD, CUVMM_SAN, CC. CUVMM_EXERCISES_WORK: a folder to keep the graders in, from one start to the next.
# shellcheck shell=bash
set -u
build=$(cd "${CUVMM_BUILD-build}" && pwd)
compiler=${CC-cc}
exercises=conformance/corpus/exercises
if [ -n "${CUVMM_SAN-}" ]; then
    echo "1..0 # SKIP an instrumented build is not what students link with"
    exit 0
fi
if [ -n "${CUVMM_EXERCISES_WORK-}" ]; then
    work=$CUVMM_EXERCISES_WORK
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/exercises_test.XXXXXX")
    work=$(cd "$work" && pwd)
    made=$work
fi
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_MACHINE CUVMM_PREFIX CUVMM_EXERCISES MAKEFLAGS MFLAGS MAKELEVEL
. ci/tap.sh
CUVMM_MACHINES=$(in_memory "$work")
trap 'rm -rf ${made:+"$made"} "$CUVMM_MACHINES"' EXIT
export CUVMM_MACHINES

# ---- the graders: each exercise's objects once, so that a variant costs its own compilation and a link ----

flags=(-std=c11 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
    -D_POSIX_C_SOURCE=200809L -I"$build/include" -I"$build/include/cuvmm" -Iconformance/harness)
system=(-pthread) # which the static library needs, where the shared one was not made
[ "$(uname -s)" != Linux ] || system+=(-ldl)
if [ ! -e "$work/grader/made" ]; then
    mkdir -p "$work/grader"
    said=$(cd "$work/grader" && "$compiler" "${flags[@]}" -I"$OLDPWD/conformance/harness" -O1 -c "$OLDPWD/$exercises"/grader/*.c "$OLDPWD/conformance/harness/tap.c" 2>&1)
    result $? 'the grader compiles without a warning' "$said"
    for folder in "$exercises"/[0-9]-*; do
        said=$("$compiler" "${flags[@]}" -O1 -c -o "$work/${folder##*/}.o" "$folder/grade.c" 2>&1) ||
            result 1 "the grader of ${folder##*/} compiles" "$said"
    done
    touch "$work/grader/made"
fi

compile() { # compile EXERCISE SOURCE PROGRAM [FLAG...]
    local exercise=$1 source=$2 program=$3
    shift 3
    "$compiler" "${flags[@]}" "$@" -I"$exercises/$exercise" -o "$program" "$source" "$work/$exercise.o" "$work"/grader/*.o \
        -L"$build/lib" -lcuvmm -Wl,-rpath,"$build/lib" "${system[@]}" 2>&1
}

grade() { # grade PROGRAM ARGUMENT...: where a profile is named it lies beside the exercises
    (cd "$exercises" && exec timeout 300 "$@" </dev/null 2>&1)
}
