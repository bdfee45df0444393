#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installation is small, and its plugins are whole although they are stripped. packaging/README.md has the sizes. Limited apart are
koord-manager, which runs twice in a cluster, and the library for authors' tests, which is neither in the image nor used by an agent.

usage: installed_size_test.py BUILD PLUGIN...   PLUGIN: file names, each of a plugin that the build makes
"""
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 25_000_000  # bytes of all files
NODE_LIMIT = 20_700_000  # limit for the files on a node
APART = {'koord-manager': 2_200_000, 'libkoordetector-test.so.1.0.0': 2_450_000}  # their own limits
COPY, COPY_LIMIT, GLIBC_MORE = 'koord-plugin-copy', 100_000, 650_000  # without musl it is linked with glibc


def installed(build, folder):
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"],
                   env={**os.environ, "DESTDIR": folder}, check=True, stdout=subprocess.DEVNULL)
    return [path for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]


def main(build, plugins):
    failures = []
    with tempfile.TemporaryDirectory(prefix="koord-test-install-") as folder:
        files = installed(build, folder)
        whole = sum(path.stat().st_size for path in files)
        size = sum(path.stat().st_size for path in files if path.name not in APART)
        more = GLIBC_MORE if any(path.name == COPY and path.stat().st_size > COPY_LIMIT for path in files) else 0
        apart = {name: sum(path.stat().st_size for path in files if path.name == name) for name in APART}
        largest = sorted(files, key=lambda path: -path.stat().st_size)[:8]
        for path in largest:
            print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(folder)}")
        print(f"{whole / 1e6:8.2f} MB  of {len(files)} files, expected at most {(LIMIT + more) / 1e6:.2f}")
        print(f"{size / 1e6:8.2f} MB  on a node, expected at most {(NODE_LIMIT + more) / 1e6:.2f}")
        for name, bytes_of_it in apart.items():
            print(f"{bytes_of_it / 1e6:8.2f} MB  {name}, expected at most {APART[name] / 1e6:.2f}")
        if whole > LIMIT + more or size > NODE_LIMIT + more or any(not 0 < apart[name] <= APART[name] for name in APART):
            failures.append("the installed tree is too large, or lacks a program")
        koordctl = next(path for path in files if path.name == "koordctl")
        by_name = {path.name: path for path in files if path.suffix == ".so"}
        for plugin in plugins:
            if plugin not in by_name:
                failures.append(f"{plugin}: is not installed")
                continue
            checked = subprocess.run([koordctl, "plugin", "check", by_name[plugin]], capture_output=True, text=True)
            if checked.returncode != 0:
                failures.append(f"{plugin}: koordctl plugin check: {checked.stdout}{checked.stderr}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
