#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each code block of the documents names its language, and each block of commands whether a test runs it (blocks.py).

usage: marks.py TREE           a block without a language or mark, or with a wrong one: exit status 1
       marks.py --count TREE   prints how many blocks of commands have which mark
       marks.py --self-test    each kind of problem must be found
"""
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from blocks import blocks_of, problems_of  # noqa: E402

# Templates of `koordctl plugin new` have no marks, because a new project does not contain the tests of this tree. Build
# folders are skipped, too.
NOT_DOCUMENTS = re.compile(r'plugin-api/templates/[^/]+/.*|build.*/.*')


def all_blocks(tree):
    for path in sorted(pathlib.Path(tree).rglob('*.md')):
        name = path.relative_to(tree).as_posix()
        if not NOT_DOCUMENTS.fullmatch(name):
            yield from blocks_of(name, path.read_text(encoding='utf-8'))


def check(tree):
    problems = [problem for block in all_blocks(tree) for problem in problems_of(block, lambda path: (pathlib.Path(tree) / path).exists())]
    print('\n'.join(problems))
    return 1 if problems else 0


def count(tree):
    kinds = collections.Counter(re.match(r'run|tested by|not run', block.mark)[0] for block in all_blocks(tree) if block.language == 'sh')
    print(', '.join(f'{kind}: {number}' for kind, number in sorted(kinds.items())))
    return 0


def self_test():
    cases = [('```\nmake\n```\n', 'has the language ""'), ('```bash\nmake\n```\n', 'has the language "bash"'), ('```sh\nmake\n```\n', 'no mark above'),
             ('<!-- run -->\n\n```sh\nmake\n```\n', 'no mark above'), ('<!-- run it -->\n```sh\nmake\n```\n', 'no mark above'), ('<!-- not run: -->\n```sh\nmake\n```\n', 'no mark above'),
             ('<!-- run -->\n```text\nmake\n```\n', 'is no commands'), ('<!-- tested by test/no -->\n```sh\nmake\n```\n', 'there is no such test'),
             ('<!-- tested by README.md -->\n```sh\nmake\n```\n', 'there is no such test'), ('<!-- run with advisor-no -->\n```sh\nmake\n```\n', 'there is no such plugin'),
             ('- a\n\n  ```sh\n  make\n  ```\n', 'no mark above'),
             ('<!-- run -->\n```sh\nmake\n```\n', ''), ('<!-- run with advisor-psi -->\n```sh\nmake\n```\n', ''), ('<!-- not run: needs a GPU -->\n```sh\nmake\n```\n', ''),
             ('<!-- tested by test/a, test/b -->\n```sh\nmake\n```\n', ''), ('- a\n\n  <!-- run -->\n  ```sh\n  make\n  ```\n', ''), ('```yaml\na: 1\n```\n', '')]
    existing = {'test/a', 'test/b', 'README.md', 'plugins/advisor-psi'}
    for text, expected in cases:
        found = '\n'.join(problem for block in blocks_of('a.md', text) for problem in problems_of(block, existing.__contains__))
        if expected not in found or bool(expected) != bool(found):
            print(f'expected "{expected}", found "{found}" in:\n{text}')
            return 1
    code = next(blocks_of('a.md', '  ```sh\n  make\n    all\n  ```\n')).code
    return 0 if code == 'make\n  all\n' else 1


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    return count(arguments[1]) if arguments[0] == '--count' else check(arguments[0])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
