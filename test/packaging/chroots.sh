# SPDX-License-Identifier: Apache-2.0
# Functions of test/packaging/chroot and test/packaging/debian. Source this file after packaging/phases.sh, when release, root and
# logs are set.

# Prints the mirror with this machine's own release.
mirror() {
  local release
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  # shellcheck disable=SC2016  # apt fills these in
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
    awk -v release="$release" '$2 == release { print $1; exit }'
}

# Prevents two runs in one folder, which would replace each other's files. The lock ends with this program and its children.
lock() {
  exec {folder_lock}>"$root.lock"
  if ! flock -n "$folder_lock"; then
    echo "${0##*/}: another run uses $root; name another FOLDER" >&2
    return 1
  fi
}

# bootstrap FOLDER [COPY]: makes a bare Debian of the release in FOLDER unless it exists; with COPY, by copying that one.
bootstrap() {
  [ ! -e "$1/.complete" ] || return 0
  if [ -n "${2:-}" ]; then
    rm -rf "$1" "$1.new"
    cp -a "$2" "$1.new"
    mv "$1.new" "$1"
    return
  fi
  if ! command -v debootstrap >/dev/null; then
    echo "${0##*/}: needs debootstrap; apt-get install debootstrap" >&2
    return 1
  fi
  rm -rf "$1"
  phase "bootstrap $release" "$logs/bootstrap.log" debootstrap --variant=minbase "$release" "$1" "$(mirror)"
  touch "$1/.complete"
}

copy_tree() {
  rm -rf "$root/src"
  mkdir -p "$root/src"
  git -C "$top" ls-files -z | tar -C "$top" --null -T - -c | tar -C "$root/src" -x --no-same-owner
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  # Debian's installer writes this file, debootstrap does not.
  echo "127.0.0.1 localhost" >"$root/etc/hosts"
}

# inside PROGRAM…: runs it in the chroot, with mounts that end with the program; if `alone` is set, in a new network namespace.
inside() {
  unshare --mount ${alone:+--net} bash -euc '
    root=$1; shift
    ip link set lo up
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/run"
    exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
      CCACHE_DIR=/var/cache/ccache CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros "$@"
  ' - "$root" "$@"
}
