#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what ninja must build for the tests of one suite, a target a line: `meson test` alone builds everything."""

import json
import os
import subprocess
import sys


def introspect(folder, what):
    return json.loads(subprocess.check_output(["meson", "introspect", what, folder]))


def main():
    folder, suite = sys.argv[1:]
    files_of = {target["id"]: target["filename"] for target in introspect(folder, "--targets")}
    wanted = set()
    for test in introspect(folder, "--tests"):
        if not any(name.split(":")[-1] == suite for name in test["suite"]):
            continue
        wanted.update(word for word in test["cmd"] if word.startswith(os.path.abspath(folder) + "/"))
        for target in test["depends"]:
            wanted.update(files_of.get(target, []))
    built = {file for files in files_of.values() for file in files}
    for path in sorted(wanted & built):
        print(os.path.relpath(path, folder))


main()
