# SPDX-License-Identifier: Apache-2.0
# Fresh systems in folders below $root, for ci/check-package and ci/check-portable, which source this. As root, with debootstrap.
#
#   root_base NAME SUITE [MIRROR]   $root/NAME, a fresh system, kept for the next time
#   fresh COPY [NAME]               $root/COPY, a copy of it (base)
#   inside COPY COMMAND...          a shell's commands in there; what they print is in $said
#   whole COPY FAILURES             removes the copy if nothing failed since there were so many failures
# shellcheck shell=bash
said=${root:?}/said # what `ok` shows of a failure
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

root_base() {
    [ ! -e "$root/$1/.complete" ] || return 0
    rm -rf "${root:?}/$1"
    local name=$1 suite=$2 mirror=${3-${DEBIAN_MIRROR-http://deb.debian.org/debian}} more=()
    # All of Ubuntu's releases have one script, by which an older debootstrap makes newer ones, too. What ci/setup installs is in universe.
    case $mirror in *ubuntu*) more=(gutsy) && set -- --components=main,universe ;; *) set -- ;; esac
    debootstrap --variant=minbase "$@" "$suite" "$root/$name" "$mirror" "${more[@]}" >"$said" 2>&1 &&
        touch "$root/$name/.complete"
}

# With /proc, /dev/shm and terminals of its own, mounted for as long as the commands run; what they start ends with them.
inside() {
    local copy=$root/$1
    shift
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 shm "$1/dev/shm" && ln -sf pts/ptmx "$1/dev/ptmx" &&
        mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$1/dev/pts" &&
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            chroot "$1" sh -euc "$2"' sh "$copy" "$*" >"$said" 2>&1 </dev/null
}

fresh() { # it may be lost with the power, so dpkg need not wait for the disk
    rm -rf "${root:?}/$1" && cp -a "$root/${2-base}" "$root/$1" && mkdir -p "$root/$1/dev/shm" "$root/$1/dev/pts" "$root/$1/proc" &&
        cp /etc/resolv.conf "$root/$1/etc/resolv.conf" && echo force-unsafe-io >"$root/$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

whole() {
    # shellcheck disable=SC2154 # of ci/tap.sh
    if [ "$failures" = "$2" ]; then rm -rf "${root:?}/$1"; else echo "# $root/$1 is left to be looked at"; fi
}

# No root, no debootstrap: the reason. Nothing: there can be fresh systems.
no_roots() {
    local tool
    for tool in debootstrap unshare chroot; do
        command -v $tool >/dev/null || { echo "no $tool here"; return; }
    done
    [ "$(id -u)" = 0 ] || echo "only root makes a system's folder"
}

# build_and_check COPY SOURCES [TEST-ARGUMENT...]: README.md's first commands by a user who is not root, in a copy with the sources.
build_and_check() {
    local copy=$1
    # A minimal system has no user but root, and a test that root passes proves nothing of permissions.
    inside "$copy" 'apt-get update -q; cd /srv/cuvmm; ci/setup'
    ok $? "$copy: ci/setup"
    inside "$copy" 'useradd -m cuvmm; chown -R cuvmm /srv/cuvmm; cd /srv/cuvmm; su cuvmm -c "make demo"'
    ok $? "$copy: make demo"
    inside "$copy" "cd /srv/cuvmm; su cuvmm -c 'make check ${2-}'"
    ok $? "$copy: make check" <(grep -E 'error:|^tally: |\*\*\*' "$said")
    grep ' passed, .* failed, .* skipped' "$said" | sed "s/^/# $copy: /"
}
