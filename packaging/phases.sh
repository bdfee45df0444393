# SPDX-License-Identifier: Apache-2.0
# Functions shared by packaging/quickstart and test/run: they run phases that print one line each, install dependencies,
# configure and compile. To be sourced; the caller has set -euo pipefail.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Sets the language of the tools, because ccache includes both variables in its hash.
export LANG=C.UTF-8 LC_ALL=C.UTF-8

# Two checkouts, or two build folders, share the results of ccache, because objects do not contain the path of their
# folder.
export CCACHE_NOHASHDIR=1

# With this a miss costs no separate preprocessing, because the compiler lists the files that it read.
export CCACHE_DEPEND=1

# ccache requires this to cache a precompiled header and the sources compiled with it. No source here uses __TIME__.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# timed "words" LOG command…: runs the command with its output in LOG and prints one line: words, result, seconds. If
# in_lane is set, the whole line is printed in one piece, because other lanes print their lines at the same time. Adds
# words and seconds to the file phase_times.
timed() {
  local words=$1 log=$2 begin=$SECONDS rc=0 result=ok seconds
  shift 2
  mkdir -p "$(dirname "$log")"
  [ -n "${in_lane:-}" ] || printf '%-44s ' "$words"
  "$@" >"$log" 2>&1 </dev/null || { rc=$?; result=FAILED; }
  seconds=$((SECONDS - begin))
  [ -z "${in_lane:-}" ] || printf '%-44s ' "$words"
  printf '%-6s %5d s\n' "$result" "$seconds"
  [ -z "${phase_times:-}" ] || printf '%s\t%d\n' "$words" "$seconds" >>"$phase_times"
  return "$rc"
}

# Other output, for example of compilers in parallel, may follow after the error that ended a command.
show_end_of() {
  local free
  echo "--- errors in $1, and its end"
  grep -aE '(^|[ :])error: |No space left on device' "$1" | head -n 10 || true
  tail -n 40 "$1"
  free=$(df -Pm "$top" | awk 'NR == 2 {print $4}')
  [ "${free:-200}" -ge 200 ] || echo "only $free MB are free on the disk of $top"
  echo "---"
}

# Does the same as timed, and after a failure shows the end of the log.
phase() {
  timed "$@" || { show_end_of "$2"; return 1; }
}

# Installs the packages that packaging/dependencies lists for build or test. Build folders that were configured without
# these packages are configured again.
install_missing() {
  local what=$1
  [ -n "$("$top/packaging/install-dependencies" --missing "$what")" ] || return 0
  phase "install packages" "$top/build/logs/install.log" "$top/packaging/install-dependencies" "$what"
  reconfigure=yes
}

# configure FOLDER meson-options…: configures FOLDER if it is new, was configured with other options, or packages were
# installed since. ninja itself notices edited meson files.
configure() {
  local folder=$1 again=''
  shift
  if [ -f "$folder/build.ninja" ]; then
    [ "${reconfigure:-}" = yes ] || [ "$*" != "$(cat "$folder/logs/options" 2>/dev/null)" ] || return 0
    again=--reconfigure
  fi
  phase "configure ${folder##*/}" "$folder/logs/configure.log" meson setup ${again:+"$again"} "$folder" "$top" "$@" ||
    return
  echo "$*" >"$folder/logs/options"
}

# compile FOLDER targets…: builds the targets in FOLDER.
compile() {
  local folder=$1
  shift
  phase "compile ${folder##*/}" "$folder/logs/compile.log" ninja -k 0 -C "$folder" "$@"
}
