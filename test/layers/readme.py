#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the plugin shown in README.md is the one that is built.

usage: readme.py README EXAMPLE

The README's first block of C++ must be, to the letter, what stands in EXAMPLE between the lines
`// [readme]` and `// [/readme]`.
"""
import difflib
import pathlib
import re
import sys

SHOWN = re.compile(r'^```cpp\n(.*?)^```$', re.S | re.M)
BUILT = re.compile(r'^// \[readme\]\n(.*?)^// \[/readme\]$', re.S | re.M)


def part(pattern, path):
    match = pattern.search(pathlib.Path(path).read_text(encoding='utf-8'))
    if not match:
        sys.exit(f'{path}: nothing found between the marks {pattern.pattern!r}')
    return match.group(1).strip('\n').splitlines()


def main(readme, example):
    difference = list(difflib.unified_diff(part(BUILT, example), part(SHOWN, readme), example, readme, lineterm=''))
    print('\n'.join(difference))
    return 1 if difference else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
