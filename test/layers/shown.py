#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the code shown in a document is code that is built.

usage: shown.py TREE DOCUMENT...    a document shows something else than the tree has: exit status 1
       shown.py --self-test         a block that differs, or names no file, must be found

Each block in a programming language stands below a line `<!-- from PATH -->` and is, to the letter, a run of lines of that
file. Blocks without a language are commands and output, which other tests run.
"""
import pathlib
import re
import sys
import tempfile

BLOCK = re.compile(r'(?:^<!-- from (?P<path>\S+) -->\n)?^```(?P<language>c|cpp|rust|go|python)\n(?P<code>.*?)^```$', re.S | re.M)


def problems_of(tree, document):
    for block in BLOCK.finditer(document.read_text(encoding='utf-8')):
        first = block['code'].split('\n', 1)[0]
        source = tree / block['path'] if block['path'] else None
        if source is None:
            yield f'{document}: no `<!-- from PATH -->` above the block that begins with: {first}'
        elif not source.is_file():
            yield f'{document}: there is no {block["path"]}'
        elif block['code'] not in source.read_text(encoding='utf-8'):
            yield f'{document}: this is not in {block["path"]}: {first} …'


def check(tree, documents):
    problems = [problem for document in documents for problem in problems_of(tree, document)]
    print('\n'.join(problems))
    return 1 if problems else 0


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        (tree / 'a.c').write_text('int a;\nint b;\nint c;\n')
        page = tree / 'page.md'
        for text, expected in [('<!-- from a.c -->\n```c\nint b;\nint c;\n```\n', 0), ('<!-- from a.c -->\n```c\nint a;\nint c;\n```\n', 1),
                               ('```c\nint a;\n```\n', 1), ('<!-- from b.c -->\n```c\nint a;\n```\n', 1), ('```\nmake\n```\n', 0)]:
            page.write_text(text)
            if check(tree, [page]) != expected:
                print(f'expected {expected} for:\n{text}')
                return 1
    return 0


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    tree, *documents = (pathlib.Path(argument) for argument in arguments)
    return check(tree, documents)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
