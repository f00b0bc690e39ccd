#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frames of Python in stacks, with every interpreter of 3.10 to 3.14 that is here, and the note about one that is older.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
probe=$build/test/stacks_probe.so
export PYTHONDONTWRITEBYTECODE=1

# The interpreter of a version: by its name, or among those of pyenv.
python_of() {
    local python
    for python in "$(command -v "python$1" 2>/dev/null)" "${PYENV_ROOT-$HOME/.pyenv}/versions/$1".*/bin/python3; do
        if [ -n "$python" ] && "$python" -c "import sys, ctypes; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

for version in 3.10 3.11 3.12 3.13 3.14; do
    if ! python=$(python_of $version); then
        skip "frames of Python $version" "there is no such interpreter with ctypes"
        continue
    fi
    timeout 120 "$python" -X faulthandler api/stacks/testing/stacks_probe.py "$probe" >"$work/out" 2>&1
    status=$?
    while IFS= read -r line; do
        case $line in
        ok\ *) result 0 "${line#ok * - }" "" ;;
        not\ ok\ *) result 1 "${line#not ok * - }" "the output of this interpreter is below" ;;
        \#\ a\ capture*) echo "$line" ;;
        esac
    done <"$work/out"
    [ $status = 0 ]
    result $? "$version: all were made" "$(tail -n 40 "$work/out")"
done

old=$(python_of 3.9 || python_of 3.8)
if [ -n "$old" ]; then
    "$old" - "$probe" >"$said" 2>&1 <<'END'
import ctypes, sys
library, text = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(1 << 16)
library.probe_note.restype = ctypes.c_char_p
assert library.probe_stack(text, len(text), 2) and b"\t" not in text.value
assert b"not available" in library.probe_note(), library.probe_note()
END
    ok $? "an older interpreter: Python frames are not available, and the native ones are"
else
    skip "an older interpreter" "there is none"
fi
finish
