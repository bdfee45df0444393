#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every C and C++ file is as clang-format 14 and .clang-format make it.

  formatting.py TREE        lists the files that are not
  formatting.py --fix TREE  formats them
  formatting.py --self-test

Another version formats otherwise, so the check is skipped without version 14."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = 'clang-format-14'
SKIPPED = 77
FILES_PER_CALL = 50


def sources(tree):
    listed = subprocess.run(['git', '-C', tree, 'ls-files', '-z', '*.c', '*.h', '*.cpp', '*.hpp'],
                            check=True, capture_output=True, text=True).stdout
    return [os.path.join(tree, name) for name in listed.split('\0') if name]


def formatted_otherwise(files):
    found = []
    for begin in range(0, len(files), FILES_PER_CALL):
        run = subprocess.run([PROGRAM, '--dry-run', '--ferror-limit=1', *files[begin:begin + FILES_PER_CALL]],
                             check=True, capture_output=True, text=True)
        found += [line.split(': ')[0] for line in run.stderr.splitlines() if 'clang-format-violations' in line]
    return found


def self_test():
    style = pathlib.Path(__file__).parents[2] / '.clang-format'
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(style, folder)
        right, wrong = pathlib.Path(folder) / 'right.cpp', pathlib.Path(folder) / 'wrong.cpp'
        right.write_text('int f(int a) { return a; }\n')
        wrong.write_text('int f( int a ){return a;}\n')
        found = formatted_otherwise([str(right), str(wrong)])
        assert [place.split(':')[0] for place in found] == [str(wrong)], found


def main(arguments):
    if not shutil.which(PROGRAM):
        print(f'SKIPPED: {PROGRAM} is not installed')
        return SKIPPED
    if arguments == ['--self-test']:
        self_test()
        return 0
    *options, tree = arguments
    files = sources(tree)
    if options == ['--fix']:
        subprocess.run([PROGRAM, '-i', *files], check=True)
        return 0
    found = formatted_otherwise(files)
    for place in found:
        print(f'{place}: not formatted')
    if found:
        print('`test/layers/formatting.py --fix .` formats all files')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
