#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the README of these folders names every C++ file of the folder, as `name` in its table.

usage: file_tables.py TREE
       file_tables.py --self-test
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = [f'core/{name}' for name in ('agentd', 'host', 'http', 'knob', 'report', 'scrape', 'service', 'state', 'store')]


def problems(tree, folders):
    found = []
    for folder in folders:
        path = pathlib.Path(tree) / folder
        rows = [line for line in (path / 'README.md').read_text(encoding='utf-8').split('\n') if line.startswith('| ')]
        named = {name for row in rows for name in re.findall(r'`(\w+)`', row.split(' | ')[0])}
        files = {file.stem for file in path.iterdir() if file.suffix in ('.hpp', '.cpp')}
        found += [f'{folder}/README.md: the table of files lacks `{name}`' for name in sorted(files - named)]
    return found


def self_test():
    with tempfile.TemporaryDirectory() as tree:
        folder = pathlib.Path(tree) / 'core/a'
        folder.mkdir(parents=True)
        (folder / 'README.md').write_text('# a\n\n`c` reads.\n\n| file | does |\n|---|---|\n| `b`, `d` | writes `c` |\n')
        for name in ('b.hpp', 'b.cpp', 'c.hpp', 'd.cpp', 'meson.build'):
            (folder / name).write_text('')
        assert problems(tree, ['core/a']) == ['core/a/README.md: the table of files lacks `c`'], problems(tree, ['core/a'])


def main(arguments):
    if arguments == ['--self-test']:
        self_test()
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(arguments[0], FOLDERS)
    print(*found, sep='\n')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
