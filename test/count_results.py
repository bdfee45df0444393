#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums meson's result files (testlog.json, one JSON object a line) up in one line.

usage: count_results.py FILE|-WORDS…

FILE is a result file; -WORDS stands for a phase that has none, because it did not build or died: one failure.
Output of failed tests goes first, the names of skipped ones with their reason next, and the sum is the last line.
Exits 1 when something failed or nothing ran.
"""
import json
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
LAST_LINES = 60


def read(path):
    with open(path, encoding='utf-8', errors='replace') as lines:
        return [json.loads(line) for line in lines]


def output_of(test):
    return '\n'.join(part.strip('\n') for part in (test.get('stdout'), test.get('stderr')) if part)


def show_failed(test):
    print(f"--- {test['result']}: {test['name']} ({test['duration']:.1f} s)")
    for line in output_of(test).splitlines()[-LAST_LINES:]:
        print('   ', line)


def show_skipped(test):
    last = output_of(test).splitlines()[-1:]
    print(f"skipped: {test['name']}" + ''.join(f': {line}' for line in last))


def main(arguments):
    unbuilt = [a[1:] for a in arguments if a.startswith('-')]
    tests = [t for a in arguments if not a.startswith('-') for t in read(a)]
    failed = [t for t in tests if t['result'] not in PASSED | SKIPPED]
    skipped = [t for t in tests if t['result'] in SKIPPED]
    for test in failed:
        show_failed(test)
    for words in unbuilt:
        print(f'--- FAIL: {words}')
    for test in skipped:
        show_skipped(test)
    n_passed, n_failed = len(tests) - len(failed) - len(skipped), len(failed) + len(unbuilt)
    print(f'{n_passed} passed, {n_failed} failed' + (f', {len(skipped)} skipped' if skipped else ''))
    return 1 if n_failed or not n_passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
