# SPDX-License-Identifier: Apache-2.0
# The GitHub Action's steps, as they stand in packaging/action/action.yml (ci/action-steps), in a fresh system. Sourced by
# ci/check-package.
# shellcheck shell=bash disable=SC2016,SC2154

# act INPUT=VALUE...: a workflow with this action and these inputs, in /srv/pool.
act() {
    ci/action-steps packaging/action/action.yml "$@" >"$root/action/srv/steps" &&
        inside action 'export RUNNER_TEMP=/srv/temp GITHUB_WORKSPACE=/srv/pool GITHUB_ACTION_PATH=/srv/cuvmm/packaging/action
            mkdir -p $RUNNER_TEMP; cd $GITHUB_WORKSPACE
            export GITHUB_ENV=/srv/temp/env GITHUB_PATH=/srv/temp/path GITHUB_OUTPUT=/srv/temp/output GITHUB_STEP_SUMMARY=/srv/temp/summary
            command -v bash; exec bash /srv/steps'
}

before=$failures
rm -f "$said"
fresh action && tar -xzf "$build/$name.tar.gz" -C "$root/action/srv" && mv "$root/action/srv/$name" "$root/action/srv/cuvmm" &&
    mkdir "$root/action/srv/pool" && cp packaging/example/pool.c "$root/action/srv/pool/"
ok $? 'action: a copy, with the sources and a project'
act command='cc -g -isystem "$(pkg-config --variable=driverincludedir cuvmm)" pool.c -o pool -L"$(pkg-config --variable=driverdir cuvmm)" -lcuda
./pool' machine=odd
ok $? 'action: it installs, the command builds a program by pkg-config and runs it, and nothing is found'
grep -q '"results": *\[\]' "$root/action/srv/temp/cuvmm-check.sarif" && grep -q 'sarif=/srv/temp/cuvmm-check.sarif' "$root/action/srv/temp/output"
ok $? 'action: its output names a SARIF file without results'
act command='./pool leak'
status=$?
line=$(grep -n 'cuMemCreate(' packaging/example/pool.c)
[ "$status" = 99 ] && grep -q "^::warning file=pool.c,line=${line%%:*},title=VMM-LEAK-HANDLE::" "$said"
ok $? 'action: a leak fails the step, and is marked in the line that made the memory'
grep -q 'VMM-LEAK-HANDLE' "$root/action/srv/temp/summary" && grep -q '"ruleId": *"VMM-LEAK-HANDLE"' "$root/action/srv/temp/cuvmm-check.sarif"
ok $? 'action: it is in the summary and in SARIF'
act command='exit 3'
[ $? = 125 ] && grep -q 'nothing was checked' "$said"
ok $? 'action: a command that makes no call of the driver fails the step'
whole action "$before"
