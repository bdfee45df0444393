#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the failed tests of one build, one a line, if they are few.

usage: failed_tests.py RESULTS FOLDER MOST

RESULTS is the file that count_results.py reads; only result files below FOLDER count. Prints nothing if more than MOST tests
failed.
"""
import sys

from count_results import has_failed, lines_of, read


def main(results, folder, most):
    files = [line for line in lines_of(results) if line.startswith(folder + '/')]
    failed = [test['name'].split(' / ')[-1] for file in files for test in read(file) if has_failed(test)]
    if len(failed) <= int(most):
        print(*failed, sep='\n', end='\n' if failed else '')


if __name__ == '__main__':
    main(*sys.argv[1:])
