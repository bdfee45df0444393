# SPDX-License-Identifier: Apache-2.0
# Functions shared by packaging/quickstart and test/run: phases with one line each, installing, configuring, compiling.
# To be sourced; the caller has set -euo pipefail.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The language of tools, whatever the caller has. ccache has both in its hash.
export LANG=C.UTF-8 LC_ALL=C.UTF-8

# Two checkouts, or two build folders, share what ccache has: objects hold no path of the folder they were made in.
export CCACHE_NOHASHDIR=1

# A miss then costs no preprocessing of its own: the compiler says what it read.
export CCACHE_DEPEND=1

# ccache requires this before it caches a precompiled header and the sources compiled with one. No source here uses
# __TIME__.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# timed "words" LOG command…: runs the command with its output in LOG and prints one line: words, result, seconds. With
# in_lane set, the line is printed as a whole, for other lanes print theirs. Adds words and seconds to the file phase_times.
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

show_end_of() {
  echo "--- the end of $1"
  tail -n 40 "$1"
  echo "---"
}

# The same, and shows what went wrong.
phase() {
  timed "$@" || { show_end_of "$2"; return 1; }
}

# Installs what packaging/dependencies lists for build or test; build folders made without it look again.
install_missing() {
  local what=$1
  [ -n "$("$top/packaging/install-dependencies" --missing "$what")" ] || return 0
  phase "install packages" "$top/build/logs/install.log" "$top/packaging/install-dependencies" "$what"
  reconfigure=yes
}

# configure FOLDER meson-options…: when FOLDER is new, was made with other options, or packages came since.
# Edited meson files are ninja's own business.
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

# compile FOLDER targets…
compile() {
  local folder=$1
  shift
  phase "compile ${folder##*/}" "$folder/logs/compile.log" ninja -k 0 -C "$folder" "$@"
}
