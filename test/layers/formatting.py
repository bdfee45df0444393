#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every C and C++ file is as clang-format 14 and .clang-format make it, and no comment has an orphan.

An orphan is what clang-format makes of a comment line in a list or table that is longer than 120 columns: its last
words on a line of their own, less indented than the next one. To fix it, join the words with the lines around.

  formatting.py TREE        lists the files that are not
  formatting.py --fix TREE  formats them
  formatting.py --self-test

Another version formats otherwise, so the check is skipped without version 14."""
import os
import pathlib
import re
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


FULL_COLUMNS = 100
ORPHAN_WORDS = 3
COMMENT = re.compile(r'^( *//[/!]?)( *)(.*)$')


def orphans(lines):
    """Yields the numbers of comment lines of a few words, after a full line and before one that is more indented.

    One that ends with ":" may be the end of a sentence before a list."""
    for number, (before, line, after) in enumerate(zip(lines, lines[1:], lines[2:]), 2):
        previous, here, following = (COMMENT.match(text) for text in (before, line, after))
        if not (previous and here and following) or not previous[3] or not here[3] or not following[3]:
            continue
        if (not line.endswith(':') and len(before) >= FULL_COLUMNS and len(here[3].split()) <= ORPHAN_WORDS and
                len(here[2]) == len(previous[2]) and len(following[2]) > len(here[2])):
            yield number


def files_with_orphans(tree, files):
    for name in files:
        path = os.path.relpath(name, tree)
        lines = pathlib.Path(name).read_text(encoding='utf-8').split('\n')
        for number in orphans(lines):
            yield f'{path}:{number}: orphan "{lines[number - 1].strip()}", expected it on a line with its sentence'


def self_test_of_orphans():
    full = '//  - ' + 'a list with lines that were longer than clang-format allows, so it broke each of them where it ended'
    item = '//    and continues here.'
    assert list(orphans([full, '//  the end', item])) == [2]
    assert not list(orphans([full, '//  of a list:', item])), 'a list follows'
    assert not list(orphans([full, '//    the end', item])), 'the words are part of the list'
    assert not list(orphans([full, '//  the end of this sentence', item])), 'not so few words'
    assert not list(orphans(['//  - a short line', '//  the end', item])), 'clang-format did not break the line'


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
    if arguments == ['--self-test']:
        self_test_of_orphans()
    else:
        *options, tree = arguments
        files = sources(tree)
        found = list(files_with_orphans(tree, files)) if not options else []
        for problem in found:
            print(problem)
        if found:
            return 1
    if not shutil.which(PROGRAM):
        print(f'SKIPPED: {PROGRAM} is not installed')
        return SKIPPED
    if arguments == ['--self-test']:
        self_test()
        return 0
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
