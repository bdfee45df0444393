#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums meson's result files (testlog.json, one JSON object a line) up in one line.

usage: count_results.py RESULTS PHASES

RESULTS has a line for each phase with tests: a result file, or "-WORDS" for a phase that did not build or died, which is one
failure. PHASES has lines "words<TAB>seconds". Prints the output of failed tests, the names of skipped ones with their
reason, the time of phases and of the longest tests, and the sum in the last line. Exits 1 when something failed or nothing
ran.
"""
import json
import pathlib
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
LAST_LINES = 60
LONGEST = 15


def lines_of(path):
    file = pathlib.Path(path)
    return file.read_text(encoding='utf-8').splitlines() if file.exists() else []


def read(path):
    with open(path, encoding='utf-8', errors='replace') as lines:
        return [json.loads(line) | {'phase': pathlib.Path(path).stem} for line in lines]


def output_of(test):
    return '\n'.join(part.strip('\n') for part in (test.get('stdout'), test.get('stderr')) if part)


def show_failed(test):
    print(f"--- {test['result']}: {test['name']} ({test['duration']:.1f} s)")
    for line in output_of(test).splitlines()[-LAST_LINES:]:
        print('   ', line)


def show_skipped(test):
    last = output_of(test).splitlines()[-1:]
    print(f"skipped: {test['name']}" + ''.join(f': {line}' for line in last))


def show_times(tests, phases):
    print('\nphases, some side by side:')
    for words, seconds in phases:
        print(f'{seconds:>8} s  {words}')
    print(f'the {LONGEST} longest tests:')
    for test in sorted(tests, key=lambda test: -test['duration'])[:LONGEST]:
        print(f"{test['duration']:8.1f} s  {test['name']} ({test['phase']})")
    print()


def main(results, phases):
    recorded = lines_of(results)
    unbuilt = [line[1:] for line in recorded if line.startswith('-')]
    tests = [test for line in recorded if not line.startswith('-') for test in read(line)]
    failed = [t for t in tests if t['result'] not in PASSED | SKIPPED]
    skipped = [t for t in tests if t['result'] in SKIPPED]
    for test in failed:
        show_failed(test)
    for words in unbuilt:
        print(f'--- FAIL: {words}')
    for test in skipped:
        show_skipped(test)
    show_times(tests, [line.split('\t') for line in lines_of(phases)])
    n_passed, n_failed = len(tests) - len(failed) - len(skipped), len(failed) + len(unbuilt)
    print(f'{n_passed} passed, {n_failed} failed' + (f', {len(skipped)} skipped' if skipped else ''))
    return 1 if n_failed or not n_passed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
