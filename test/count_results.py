#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums meson's result files (testlog.json, one JSON object a line) up in one line.

usage: count_results.py RESULTS PHASES

RESULTS has a line for each phase with tests: a result file, or "-WORDS" for a phase that did not build or died, which is one
failure. PHASES has lines "words<TAB>seconds". Prints the output of failed tests, the names of skipped ones with their
reason, the time of phases and of the longest tests, and the sum in the last line. Exits 1 when something failed or nothing
ran.

A result file test-again… has tests that failed in parallel with others and ran once more, alone. A test that passed at
that time is unsteady. It is shown with the output of the failure, and counts as passed.
"""
import json
import pathlib
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
LAST_LINES = {'stdout': 60, 'stderr': 20}
MOST_ERRORS = 20
LONGEST = 15
AGAIN = 'test-again'


def lines_of(path):
    file = pathlib.Path(path)
    return file.read_text(encoding='utf-8').splitlines() if file.exists() else []


def read(path):
    with open(path, encoding='utf-8', errors='replace') as lines:
        where = {'phase': pathlib.Path(path).stem, 'may_be_unsteady': pathlib.Path(path).parts[-3:-2] == ('build',)}
        return [json.loads(line) | where for line in lines]


def has_failed(test):
    return test['result'] not in PASSED | SKIPPED


def split_unsteady(tests):
    """Returns the tests without second runs, and the tests that failed and then passed in their second run."""
    first = [test for test in tests if not test['phase'].startswith(AGAIN)]
    passed_again = {test['name'] for test in tests if test['phase'].startswith(AGAIN) and test['result'] in PASSED}
    return first, [test for test in first if has_failed(test) and test['may_be_unsteady'] and test['name'] in passed_again]


def output_of(test, stream):
    return (test.get(stream) or '').strip('\n').splitlines()


def failed_lines(test, stream):
    """Returns the end of a test's output, preceded by errors of its assertions that are not in this end."""
    lines = output_of(test, stream)
    end = lines[-LAST_LINES[stream]:]
    return [line for line in lines[:-len(end)] if ' ERROR: ' in line][:MOST_ERRORS] + end


def show_failed(test, word=None):
    print(f"--- {word or test['result']}: {test['name']} ({test['duration']:.1f} s)")
    for stream in LAST_LINES:
        for line in failed_lines(test, stream):
            print('   ', line)


def show_skipped(test):
    last = [line for stream in LAST_LINES for line in output_of(test, stream)][-1:]
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
    tests, unsteady = split_unsteady(tests)
    failed = [test for test in tests if has_failed(test) and test not in unsteady]
    skipped = [t for t in tests if t['result'] in SKIPPED]
    for test in failed:
        show_failed(test)
    for test in unsteady:
        show_failed(test, 'UNSTEADY, passed when it ran again')
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
