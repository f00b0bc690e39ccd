# SPDX-License-Identifier: Apache-2.0
# A project that builds cuvmm as part of itself, with CMake's FetchContent. Sourced by ci/check-package. shellcheck
# shell=bash disable=SC2016,SC2154
before=$failures
rm -f "$said"
fresh fetch && mkdir "$root/fetch/srv/pool" && cp "$build/$name.tar.gz" "$root/fetch/srv/" &&
    cp packaging/example/pool.c packaging/example/pool.cmake packaging/example/fetch-content/CMakeLists.txt "$root/fetch/srv/pool/"
ok $? 'FetchContent: a copy, with the tarball of make dist and the example in an empty folder'
inside fetch 'apt-get update -q; apt-get install -q -y --no-install-recommends cmake make gcc libc6-dev'
ok $? 'FetchContent: cmake, make and a compiler'
inside fetch "cd /srv/pool; cmake -B build -S . -DCUVMM_URL=/srv/$name.tar.gz; cmake --build build"
ok $? 'FetchContent: the project builds, and cuvmm with it'
inside fetch 'cd /srv/pool/build; ctest --output-on-failure -j2' && grep -q '100% tests passed, 0 tests failed out of 6' "$said"
ok $? 'FetchContent: its six tests give what the example says'
whole fetch "$before"
