#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that comments, string literals, Markdown and names are in plain words.

usage: check.py TREE [PATH...]   every tracked file, or those below a PATH; a finding makes the exit status 1

A finding is a line `file:line: "phrase": write …`. The rules are in rules.py, those of names in names.py. The file
`exceptions` lists the places where a phrase or a name is right, each with its reason.
"""
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from names import find_in_identifier, find_in_name, identifiers_of, names_of  # noqa: E402
from rules import find_in  # noqa: E402
from texts import texts_of  # noqa: E402

EXCEPTIONS = pathlib.Path(__file__).with_name('exceptions')
NOT_TEXT = ('.svg', '.xz', '.gz', '.tar', '.so', '.sqlite', '.xml')
OWN_FILES = 'test/words/'


class Exceptions:
    """Reads the lines `path glob | regular expression of the phrase with its words around | reason`."""

    def __init__(self, content):
        self.entries = []
        self.used = set()
        for number, line in enumerate(content.split('\n'), 1):
            if not line.strip() or line.startswith('#'):
                continue
            fields = [field.strip() for field in line.split('|')]
            if len(fields) != 3 or not all(fields):
                raise ValueError(f'exceptions:{number}: expected "path | expression | reason"')
            self.entries.append((number, fields[0], re.compile(fields[1], re.I)))

    def allow(self, path, body, start, end):
        for number, glob, expression in self.entries:
            if not fnmatch.fnmatchcase(path, glob):
                continue
            for match in expression.finditer(body):
                if match.start() < end and start < match.end():
                    self.used.add(number)
                    return True
        return False

    def unused(self):
        return [number for number, _, _ in self.entries if number not in self.used]


def tracked_files(tree):
    try:
        listed = subprocess.run(['git', '-c', 'safe.directory=*', '-C', tree, 'ls-files', '-z'],
                                capture_output=True, check=False)
        if listed.returncode == 0:
            return listed.stdout.decode().split('\0')[:-1]
    except FileNotFoundError:
        pass  # git is not installed
    # In an unpacked archive, lists every file outside of git's and build folders.
    files = []
    for folder, folders, names in os.walk(tree):
        if 'meson-private' in folders:
            folders.clear()
            continue
        folders[:] = [name for name in folders if name != '.git']
        files += [os.path.relpath(os.path.join(folder, name), tree) for name in names if name != '.git']
    return sorted(files)


def findings_in(path, content, exceptions):
    for text in texts_of(path, content):
        for finding in find_in(text):
            if not exceptions.allow(path, text.body, finding.start, finding.end):
                yield text.line_at(finding.start), finding


def names_in(path, content, exceptions):
    """Yields (line, name, word, what to write) for each name in the file that is not plain."""
    of_types = [(line, name, find_in_name(words)) for line, name, words in names_of(path, content)]
    reported = {name for _, name, found in of_types if found}
    others = [(line, name, find_in_identifier(words)) for line, name, words in identifiers_of(path, content) if name not in reported]
    for line, name, found in of_types + others:
        if found and not exceptions.allow(path, name, 0, len(name)):
            yield line, name, *found


def files_of(tree, below=()):
    """Yields path and content of the text files, except for the checker's own files, which contain every phrase."""
    for path in tracked_files(tree):
        if path.endswith(NOT_TEXT) or path.startswith(OWN_FILES) or below and not path.startswith(tuple(below)):
            continue
        try:
            with open(os.path.join(tree, path), encoding='utf-8') as file:
                content = file.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        if '\0' not in content:
            yield path, content


def check(tree, below=()):
    exceptions = Exceptions(EXCEPTIONS.read_text(encoding='utf-8'))
    for path, content in files_of(tree, below):
        for line, finding in findings_in(path, content, exceptions):
            yield f'{path}:{line}: "{finding.phrase}": write {finding.instead}'
        for line, name, word, instead in names_in(path, content, exceptions):
            yield f'{path}:{line}: "{word}" in the name "{name}": write {instead}'
    if not below:
        for number in exceptions.unused():
            yield f'test/words/exceptions:{number}: allows nothing that is there, expected its removal'


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    count = 0
    for finding in check(arguments[0], arguments[1:]):
        print(finding)
        count += 1
    if count:
        print(f'{count} phrases are not plain')
    return 1 if count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
