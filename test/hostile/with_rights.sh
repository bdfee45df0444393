#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: with_rights.sh unit|chart|without-setuid FOLDER PROGRAM [ARGUMENT…]
# Runs the program with the capabilities and the read-only files that the systemd unit or the chart's container gives the agent,
# and with no_new_privs. FOLDER stays writable. It runs in a new mount namespace; the program replaces this shell.
# without-setuid: as root, without CAP_SETUID.
set -eu
rights=$1 folder=$2
shift 2
if [ "$rights" = without-setuid ]; then exec setpriv --bounding-set=-setuid "$@"; fi
if [ -z "${KOORD_IN_NAMESPACE:-}" ]; then
  KOORD_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$rights" "$folder" "$@"
fi
unset KOORD_IN_NAMESPACE
case $rights in
  unit) kept=+bpf,+perfmon,+sys_resource,+dac_read_search,+sys_ptrace,+syslog,+setuid,+setgid,+kill,+chown ;;
  chart) kept=+bpf,+perfmon,+setuid,+setgid,+kill,+chown ;;
  *) echo "with_rights.sh: '$rights': expected unit, chart or without-setuid" >&2; exit 2 ;;
esac
mount --bind "$folder" "$folder"
mount --bind /proc/sys /proc/sys
for place in / /proc/sys; do mount -o remount,bind,ro "$place"; done
mount -o remount,bind,rw "$folder"
exec setpriv --nnp --bounding-set="-all,$kept" "$@"
