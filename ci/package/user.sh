# SPDX-License-Identifier: Apache-2.0
# The packages of make deb: installed, used by small projects, purged. Sourced by ci/check-package.
# shellcheck shell=bash disable=SC2016,SC2154
before=$failures
rm -f "$said"
fresh user && cp "$build"/deb/*.deb "$root/user/tmp/" && cp -R conformance/corpus/demo "$root/user/tmp/" &&
    cp -R conformance/programs/unmodified packaging/example "$root/user/tmp/" && cp conformance/corpus/exercises/solutions/1-vector.c "$root/user/tmp/"
ok $? 'a copy, with the packages of make deb'
inside user 'dpkg --get-selections >/tmp/before; apt-get update -q; apt-get install -q -y --no-install-recommends /tmp/*.deb'
ok $? 'apt installs them, with what they name'
inside user 'for script in /tmp/demo/*.vmm; do cuvmm run $script; done; cuvmm lesson 1 --all; cuvmm explain VMM-MAP-OVERLAP'
ok $? 'the command shows the demos, a lesson and a rule'
inside user 'apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config'
ok $? 'a compiler beside them'
inside user 'cd /tmp; gcc -std=c11 -o first /usr/share/doc/libcuvmm-dev/examples/first.c $(pkg-config --cflags --libs cuvmm)
    ./first >first.out' && diff conformance/programs/examples/first.out "$root/user/tmp/first.out" >"$said"
ok $? 'a program compiles with what pkg-config says, and prints what it should'
inside user 'apt-get install -q -y --no-install-recommends cmake make; cp -r /tmp/example /tmp/project; cd /tmp/project
    cp find-package/CMakeLists.txt .; cmake -B build -S .; cmake --build build; cd build; ctest --output-on-failure' &&
    grep -q '100% tests passed, 0 tests failed out of 6' "$said"
ok $? "a project of CMake finds them, and its six tests give what the example says"
inside user 'cd /tmp/unmodified; gcc -std=c11 -isystem /usr/include/cuvmm/abi -o add vector_add.c -L/usr/lib/cuvmm -lcuda
    gcc -std=c11 -shared -fPIC -I/usr/include/cuvmm -o kernels.so vector_add_kernels.c kernel_template.c; touch image
    LD_LIBRARY_PATH=/usr/lib/cuvmm CUVMM_KERNELS=./kernels.so ./add image; ! ./add image' &&
    grep -q '1000 of 1000 sums are right' "$said"
ok $? "a program of the driver's API runs on libcuda.so.1 where it is told to, and finds none otherwise"
inside user 'cd /tmp; cuvmm exercise grade 1 1-vector.c'
ok $? 'the command grades an exercise'
inside user 'apt-get purge -q -y libcuvmm0 libcuvmm-dev cuvmm cuvmm-libcuda >/dev/null 2>&1; dpkg -l | grep cuvmm || true
    find / -xdev \( -path /tmp -o -path /proc -o -path "/var/*" \) -prune -o -name "*cuvmm*" -print'
[ ! -s "$said" ]
ok $? 'purged, they leave nothing behind'
whole user "$before"
