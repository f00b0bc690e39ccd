#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/test-folder: where tests write.
. ci/test_head.sh

folder=$(ci/test-folder "$work/build") && [ -d "$folder" ] && [ -z "$(ls -A "$folder")" ]
ok $? "a folder, which is empty"
printf '#!/bin/sh\necho runs\n' >"$folder/program" && chmod +x "$folder/program" && [ "$("$folder/program")" = runs ]
ok $? "in which programs run"
other=$(ci/test-folder "$work/build-2")
[ "$other" != "$folder" ]
ok $? "and which no other run has"
rm -rf "$folder" "$other"
mkdir -p "$work/build/tmp/left"
[ "$(TEST_MEMORY=$work/none ci/test-folder "$work/build")" = "$(cd "$work/build" && pwd)/tmp" ] && [ -d "$work/build/tmp" ] && [ ! -e "$work/build/tmp/left" ]
ok $? "without such a place in memory it is a new one of the build"
finish
