#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the tests of one lane of test/run, a name a line, the longest first: by priority, then by time limit.
`meson test NAME...` keeps the order of the names and ignores priorities.

usage: tests_of_lane.py FOLDER parallel|machines|quiet

machines: the suite v2, with emulated machines that take a CPU each. quiet: of the others those that meson runs alone, because
they measure this machine. parallel: the rest.
"""
import json
import subprocess
import sys


def lane_of(test):
    if any(suite.split(':')[-1] == 'v2' for suite in test['suite']):
        return 'machines'
    return 'parallel' if test['is_parallel'] else 'quiet'


def main():
    folder, lane = sys.argv[1:]
    tests = json.loads(subprocess.check_output(['meson', 'introspect', '--tests', folder]))
    lengths = {test['name']: (test['priority'], test['timeout']) for test in tests if lane_of(test) == lane}
    for name in sorted(lengths, key=lengths.get, reverse=True):
        print(name)


main()
