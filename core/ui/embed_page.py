#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that holds the files of a page, compressed, for core/ui/page_files.hpp.

usage: embed_page.py OUTPUT FILE...    the page has each file at "/NAME"
"""
import gzip
import pathlib
import sys

CONTENT_TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
}


def literal(content):
    """Returns octal escapes. Each escape has three digits, so a digit that follows an escape is not part of it."""
    lines = [content[i:i + 32] for i in range(0, len(content), 32)]
    return '\n'.join('     "' + ''.join(f'\\{byte:03o}' for byte in line) + '"' for line in lines)


def entry(path):
    content = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
    return f'    {{"/{path.name}", "{CONTENT_TYPES[path.suffix]}", {{\n{literal(content)},\n     {len(content)}}}}},\n'


def main(output, *files):
    entries = ''.join(entry(path) for path in sorted(map(pathlib.Path, files), key=lambda path: path.name))
    pathlib.Path(output).write_text(
        '// Made by core/ui/embed_page.py.\n'
        '#include "core/ui/page_files.hpp"\n\n'
        '// Longer than the standard promises, no longer than compilers take.\n'
        '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
        'namespace koord::ui {\nnamespace {\nconstexpr PageFile files[] = {\n' + entries + '};\n}  // namespace\n\n'
        'std::span<const PageFile> page_files() { return files; }\n}  // namespace koord::ui\n',
        encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
