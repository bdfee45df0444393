#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that nothing of the host unloads a plugin: code of it may run on any thread, at any time.

usage: unloading.py TREE
       unloading.py --self-test    each way to unload must be found
"""
import pathlib
import re
import sys
import tempfile

UNLOADS = re.compile(r'\bdlclose\b|(?:\.|->)unload\s*\(')
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# Boost's handle unloads in its destructor, so the object that keeps handles is made by new and never destroyed.
KEEPS_HANDLES = re.compile(r'\bdll::shared_library\s+\w+\s*;')
NEVER_DESTROYED = re.compile(r'\bstatic\s+[\w:]+\s*&\s*\w+\s*=\s*\*\s*new\b')


def code_of(path):
    """Returns the source without comments and string literals, with the same line numbers."""
    return COMMENT_OR_TEXT.sub(lambda match: '\n' * match.group().count('\n'), path.read_text(encoding='utf-8'))


def unloads(tree):
    for path in sorted((tree / 'core').rglob('*.[ch]pp')):
        code = code_of(path)
        for number, line in enumerate(code.splitlines(), 1):
            if found := UNLOADS.search(line):
                yield f'{path.relative_to(tree)}:{number}: {found.group()}: a mapped plugin must stay mapped'
        if KEEPS_HANDLES.search(code) and not NEVER_DESTROYED.search(code):
            yield f'{path.relative_to(tree)}: keeps handles that unload in their destructor, expected a static reference to *new'


def self_test():
    sources = {
        'void f(void* h) { ::dlclose(h); }': 1,
        'library.unload();': 1,
        'library->unload ();': 1,
        'struct Mapped {\n  boost::dll::shared_library library;\n};\nMapped& all() { static Mapped one; return one; }': 1,
        'boost::dll::shared_library library;\nstatic Handles& all = *new Handles;': 0,
        '// dlclose unmaps\n/* library.unload() */\nauto text = "dlclose";': 0,
    }
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'core' / 'load' / 'source.cpp'
        source.parent.mkdir(parents=True)
        for text, expected in sources.items():
            source.write_text(text, encoding='utf-8')
            found = list(unloads(pathlib.Path(folder)))
            if len(found) != expected:
                print(f'{text!r}: expected {expected} complaints, found {found}')
                return 1
    return 0


def main(argument):
    if argument == '--self-test':
        return self_test()
    tree = pathlib.Path(argument)
    if not (tree / 'core/load/module.cpp').is_file():
        print(f"'{tree}' is not this source tree")
        return 2
    found = list(unloads(tree))
    print('\n'.join(found) or 'nothing unloads')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
