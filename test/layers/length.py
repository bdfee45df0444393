#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no C or C++ file has more than 400 lines: a longer one is two things. LONGER has those that stay one.

usage: length.py TREE
       length.py --self-test
"""
import pathlib
import subprocess
import sys
import tempfile

MOST_LINES = 400

# Files that may be longer, each with its reason.
LONGER = {
    'plugin-api/include/koordetector/plugin.h': 'the whole ABI in one header of C, mostly comments, for every language',
}


def sources(tree):
    listed = subprocess.run(['git', '-C', tree, 'ls-files', '-z', '*.c', '*.h', '*.cpp', '*.hpp'],
                            check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split('\0') if name and (pathlib.Path(tree) / name).exists()]


def problems(tree, longer):
    lines = {name: (pathlib.Path(tree) / name).read_bytes().count(b'\n') for name in sources(tree)}
    found = [f'{name}: {n} lines, expected at most {MOST_LINES}'
             for name, n in sorted(lines.items()) if n > MOST_LINES and name not in longer]
    found += [f'{name} is in LONGER of test/layers/length.py and has at most {MOST_LINES} lines or is missing'
              for name in longer if lines.get(name, 0) <= MOST_LINES]
    return found


def self_test():
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run(['git', 'init', '-q', tree], check=True)
        for name, n in {'short.cpp': MOST_LINES, 'long.hpp': MOST_LINES + 1, 'allowed.h': MOST_LINES + 1}.items():
            (pathlib.Path(tree) / name).write_text('//\n' * n)
        subprocess.run(['git', '-C', tree, 'add', '.'], check=True)
        found = problems(tree, {'allowed.h': 'a reason', 'gone.cpp': 'a reason'})
        assert [line.split(':')[0].split(' ')[0] for line in found] == ['long.hpp', 'gone.cpp'], found


def main(arguments):
    if arguments == ['--self-test']:
        self_test()
        return 0
    found = problems(arguments[0], LONGER)
    print('\n'.join(found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
