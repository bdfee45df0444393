#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no TRY comes after another element of a braced list or after another argument of `new`.

usage: try_in_lists.py TREE         exit status 1 if there is such a TRY
       try_in_lists.py --self-test  checks that every known form is found, and nothing else

TRY returns out of the middle of an expression. GCC and clang then destroy the arguments of a call, but not the elements of a
braced list, nor the memory of a `new`, that exist already: `Record{name(), TRY(size())}` leaks the name when there is no size.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ['core', 'plugins', 'plugin-api', 'examples', 'test']
HIDDEN = re.compile(r'(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"')
BLOCK = re.compile(r'(?:[);{}\]]|\b(?:else|do|try|noexcept|const|override|mutable)|->\s*[\w:<>,*&\s]+)$')
NEW = re.compile(r'\bnew\s+[\w:<>]+$')


def is_block(before):
    """Returns whether a brace after this text opens a block of statements."""
    return BLOCK.search(before[-120:].rstrip()) is not None


def stands_behind_another(code, at):
    """Returns whether the element that begins at `at` has a sibling before it in a braced list or in the arguments of `new`."""
    depth, siblings = 0, False
    for i in range(at - 1, -1, -1):
        character = code[i]
        if character in ')}]':
            depth += 1
        elif character in '([{' and depth > 0:
            depth -= 1
        elif character in '([{':
            if character == '{' and is_block(code[:i]):
                return False
            if siblings and (character == '{' or NEW.search(code[:i].rstrip()[-120:])):
                return True
            siblings = False
        elif depth == 0 and character == ';':
            return False
        elif depth == 0 and character == ',':
            siblings = True
    return False


def findings(tree):
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob('*.[ch]pp')):
            code = HIDDEN.sub(lambda m: re.sub(r'[^\n]', ' ', m[0]), path.read_text(encoding='utf-8'))
            for found in re.finditer(r'\bTRY\(', code):
                if stands_behind_another(code, found.start()):
                    yield f'{path.relative_to(tree)}:{code.count(chr(10), 0, found.start()) + 1}'


SELF_TEST = [
    ('auto a = Record{name(), TRY(size())};', True),
    ('const Record a{.name = name(), .size = TRY(size())};', True),
    ('list.push_back({name(), parse(TRY(size()))});', True),
    ('std::unique_ptr<Record> a(new Record(name(), TRY(size())));', True),
    ('const Record a{TRY(size()), name()};', False),
    ('call(name(), TRY(size()));', False),
    ('int a = 1, b = TRY(size());', False),
    ('auto f = [a, b] { return TRY(size()); };', False),
    ('auto f = [a, b]() -> Result<int> { return TRY(size()); };', False),
    ('if (a) { b(x, y); } else { TRY(size()); }', False),
]


def self_test():
    for number, (code, expected) in enumerate(SELF_TEST):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / 'core').mkdir()
            (tree / 'core/a.cpp').write_text(code + '\n', encoding='utf-8')
            if bool(list(findings(tree))) != expected:
                sys.exit(f'case {number}: expected {"a finding" if expected else "nothing"} in: {code}')


def main():
    if sys.argv[1] == '--self-test':
        return self_test()
    found = list(findings(pathlib.Path(sys.argv[1])))
    if found:
        sys.exit('TRY behind another element of a braced list, or of the arguments of new:\n  ' + '\n  '.join(found) +
                 '\nTake its value into a local first; TRY in core/base/result.hpp says why.')


if __name__ == '__main__':
    main()
