#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no two places of the product have six identical lines in a row.

usage: repeated.py TREE         a pair that repeated_exceptions does not list: exit status 1
       repeated.py --self-test  a tree with a pair must be found, one with an exception must not

The product is the code in C, C++, Go, Rust and BPF below the folders of PRODUCT, without tests, templates (which people copy) and
generated files. White space does not count. Lines that carry no logic are passed over: blank lines, comments,
punctuation, access specifiers, and imports (`#include`, `using x;`). A line of the file `repeated_exceptions` names a pair of
files that may share lines, with the reason.
"""
import collections
import itertools
import pathlib
import re
import sys
import tempfile

LENGTH = 6
PRODUCT = ['core', 'plugins', 'plugin-api', 'bpf']
SUFFIXES = {'.c', '.h', '.cpp', '.hpp', '.go', '.rs'}
LEFT_OUT = [
    (re.compile(r'_test\.\w+$'), 'tests beside their code'),
    (re.compile(r'^plugin-api/templates/'), 'each template is a plugin of its own, which people copy'),
    (re.compile(r'^plugin-api/bindings/rust/abi\.rs$'), 'generated from plugin.h'),
]
COMMENT = re.compile(r'(?s)"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/')
NO_LOGIC = re.compile(r'[^\w]*|(?:public|private|protected):|#\s*(?:include|pragma|endif|else)\b.*|(?:using|use|import) [\w:.{}, ]+;?|package \w+')
EXCEPTIONS = 'test/layers/repeated_exceptions'


class Source:
    """The lines of a file that count, each with its number."""

    def __init__(self, path, text):
        self.path = path
        # A comment is replaced by its line ends, so line numbers stay the same.
        code = COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else '\n' * m[0].count('\n'), text)
        rows = [(number, ' '.join(line.split())) for number, line in enumerate(code.split('\n'), 1)]
        rows = [(number, line) for number, line in rows if not NO_LOGIC.fullmatch(line)]
        self.numbers = [number for number, _ in rows]
        self.lines = [line for _, line in rows]

    def runs(self):
        for first in range(len(self.lines) - LENGTH + 1):
            yield first, tuple(self.lines[first:first + LENGTH])


def sources_of(tree):
    for folder in PRODUCT:
        for path in sorted((tree / folder).rglob('*')):
            name = path.relative_to(tree).as_posix()
            if path.suffix in SUFFIXES and not any(pattern.search(name) for pattern, _ in LEFT_OUT):
                yield Source(name, path.read_text(encoding='utf-8'))


def length_of(a, i, b, j):
    """Returns the number of identical lines from line i of a and line j of b on."""
    pairs = zip(a.lines[i:], b.lines[j:])
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def pairs_of(sources):
    """Yields (a, i, b, j, n): n lines from i of a equal the n lines from j of b. Takes as many lines as possible, without
    overlap."""
    places = collections.defaultdict(list)
    for source in sources:
        for first, run in source.runs():
            places[run].append((source, first))
    for run_places in places.values():
        for (a, i), (b, j) in itertools.combinations(run_places, 2):
            if i and j and a.lines[i - 1] == b.lines[j - 1]:
                continue  # part of a longer repetition
            length = length_of(a, i, b, j)
            if a is not b or j - i >= LENGTH:
                yield a, i, b, j, length


def exceptions_of(tree):
    """Returns {pair of paths: reason}."""
    found = {}
    for number, line in enumerate((tree / EXCEPTIONS).read_text(encoding='utf-8').split('\n'), 1):
        if not line.strip() or line.startswith('#'):
            continue
        fields = [field.strip() for field in line.split('|')]
        if len(fields) != 3 or not all(fields):
            raise ValueError(f'{EXCEPTIONS}:{number}: expected "path | path | reason"')
        found[frozenset(fields[:2])] = fields[2]
    return found


def findings_in(tree):
    exceptions = exceptions_of(tree)
    used = set()
    for a, i, b, j, length in pairs_of(list(sources_of(tree))):
        pair = frozenset([a.path, b.path])
        used.add(pair)
        if pair not in exceptions:
            yield (f'{a.path}:{a.numbers[i]} and {b.path}:{b.numbers[j]}: {length} identical lines, the first: {a.lines[i]}')
    for pair in exceptions:
        if pair not in used:
            yield f'{EXCEPTIONS}: {" and ".join(sorted(pair))} share no lines any more'


RUN = [f'call_{number}();' for number in range(LENGTH)]
FUNCTION = '\n'.join(['void f() {', *RUN, '}'])
SPACED = '\n'.join(['void g() {', *(f'  {line}  // a comment\n' for line in RUN), '}'])
OTHER = '\n'.join(['void h() {', *RUN[1:], '}'])
IMPORTS = '\n'.join(['#include "a.hpp"', '#include "b.hpp"', 'using a::b;', 'using a::c;', ' public:', '}', '/* one', 'two */'])
# Files, exceptions, and whether a finding is expected.
CASES = [
    ({'core/base/a.cpp': FUNCTION, 'plugins/x/b.cpp': SPACED}, '', True),
    ({'core/base/a.cpp': FUNCTION + '\n' + SPACED}, '', True),
    ({'core/base/a.cpp': FUNCTION, 'core/base/b.hpp': SPACED, 'plugin-api/bindings/go/c.go': FUNCTION},
     'core/base/a.cpp | core/base/b.hpp | twins\n', True),
    ({'core/base/a.cpp': FUNCTION, 'core/base/b.cpp': SPACED}, '# twins\ncore/base/b.cpp | core/base/a.cpp | twins\n', False),
    ({'core/base/a.cpp': FUNCTION, 'core/base/b.cpp': OTHER}, '', False),
    ({'core/base/a.cpp': FUNCTION, 'core/base/b.cpp': OTHER}, 'core/base/a.cpp | core/base/b.cpp | twins\n', True),
    ({'core/base/a.cpp': FUNCTION, 'core/base/a_test.cpp': FUNCTION, 'test/a.cpp': FUNCTION}, '', False),
    ({'core/base/a.cpp': IMPORTS, 'core/base/b.cpp': IMPORTS}, '', False),
    ({'core/base/a.cpp': '\n'.join(['call();'] * (2 * LENGTH - 1))}, '', False),
]


def self_test():
    for files, exceptions, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            for path, content in {**files, EXCEPTIONS: exceptions}.items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(content, encoding='utf-8')
            found = list(findings_in(tree))
            if bool(found) != expected:
                yield f'{sorted(files)} with {exceptions!r}: found {found}'


def main(arguments):
    findings = list(self_test()) if arguments == ['--self-test'] else list(findings_in(pathlib.Path(arguments[0])))
    print('\n'.join(findings))
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
