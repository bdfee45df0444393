#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the tests of one lane of test/run, a name a line, the longest first: by priority, then by time limit.
`meson test NAME...` keeps the order of the names and ignores priorities.

usage: tests_of_lane.py FOLDER parallel|machines|hostile|beside|quiet

machines: the suite v2, with emulated machines that take a CPU each. parallel: the others that meson may run beside others.
hostile: the suite hostile, which leaves most of two CPUs idle. beside: those that run beside that lane, as their suite `beside`
says. quiet: the rest, which measure this machine.
"""
import json
import subprocess
import sys


def lane_of(test):
    suites = [suite.split(':')[-1] for suite in test['suite']]
    if 'v2' in suites:
        return 'machines'
    if test['is_parallel']:
        return 'parallel'
    return next((lane for lane in ('hostile', 'beside') if lane in suites), 'quiet')


def main():
    folder, lane = sys.argv[1:]
    tests = json.loads(subprocess.check_output(['meson', 'introspect', '--tests', folder]))
    lengths = {test['name']: (test['priority'], test['timeout']) for test in tests if lane_of(test) == lane}
    for name in sorted(lengths, key=lengths.get, reverse=True):
        print(name)


main()
