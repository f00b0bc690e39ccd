# SPDX-License-Identifier: Apache-2.0
# The instructions of packaging/docker/Dockerfile in fresh systems, which stand for the image debian:12-slim. Sourced by
# ci/check-package.
# shellcheck shell=bash disable=SC2016,SC2154

# follow: each stage is the copy container-STAGE, the last one container; prints the instruction that fails.
follow() {
    local word rest folder=/ copy='' last
    last=$(grep -c '^FROM' packaging/docker/Dockerfile)
    while read -r word rest <&4; do
        case $word in
        '' | '#'*) ;;
        FROM)
            last=$((last - 1)) folder=/ copy=container
            [ "$last" = 0 ] || copy=container-${rest##* }
            [ "${rest%% *}" = debian:12-slim ] && fresh $copy
            ;;
        COPY)
            case $rest in
            '. '*) mkdir -p "$root/$copy${rest#. }" && tar -xzf "$build/$name.tar.gz" --strip-components=1 -C "$root/$copy${rest#. }" ;;
            --from=*)
                read -r from source target <<<"$rest"
                cp -a "$root/container-${from#--from=}$source/." "$root/$copy$target"
                ;;
            *) false ;;
            esac
            ;;
        WORKDIR) folder=$rest && mkdir -p "$root/$copy$folder" ;;
        RUN) inside $copy "cd $folder; $rest" ;;
        ENTRYPOINT) entry=$(tr -d '[]",' <<<"$rest") ;;
        *) false ;;
        esac || {
            echo "Dockerfile: $word $rest" >>"$said"
            return 1
        }
    done 4< <(sed -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}' packaging/docker/Dockerfile)
}

before=$failures
rm -f "$said"
path='PATH=/usr/local/sbin:/usr/local/bin:$PATH;' # the image's
entry=
follow
ok $? 'container: the instructions of the Dockerfile succeed'
mkdir -p "$root/container/work" && cp packaging/example/pool.c "$root/container/work/" &&
    inside container "$path cd /work; cc -isystem \$(pkg-config --variable=driverincludedir cuvmm) pool.c -o pool -L\$(pkg-config --variable=driverdir cuvmm) -lcuda
    $entry check --error-exitcode=9 ./pool"
ok $? 'container: a program is built and checked there'
inside container "$path cd /work; $entry check --error-exitcode=9 ./pool leak"
[ $? = 9 ] && grep -q 'VMM-LEAK-HANDLE' "$said"
ok $? 'container: its entry point is the command, which finds a leak'
whole container "$before"
rm -rf "${root:?}"/container-*
