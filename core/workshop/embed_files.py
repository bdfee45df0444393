#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that holds files, for core/workshop/embedded_files.hpp.

usage: embed_files.py OUTPUT ROOT FILE...    the table has the files' paths below ROOT
"""
import os
import pathlib
import sys


def literal(text):
    """One string a line of the file: as quick to compile as it gets, and it can be read."""
    escaped = text.replace('\\', '\\\\').replace('"', '\\"').replace('\t', '\\t')
    return '\n'.join(f'     "{line}\\n"' for line in escaped.split('\n')[:-1])


def entry(root, path):
    text = path.read_text(encoding='utf-8')
    if not text.endswith('\n') or '\r' in text or '\0' in text:
        sys.exit(f'embed_files.py: {path}: wanted lines of text, the last one ended')
    executable = 'true' if os.access(path, os.X_OK) else 'false'
    size = len(text.encode())
    return f'    {{"{path.relative_to(root).as_posix()}", {{\n{literal(text)},\n     {size}}}, {executable}}},\n'


def main(output, root, *files):
    root = pathlib.Path(root).resolve()
    entries = ''.join(entry(root, path) for path in sorted(pathlib.Path(file).resolve() for file in files))
    pathlib.Path(output).write_text(
        '// Made by core/workshop/embed_files.py.\n'
        '#include "core/workshop/embedded_files.hpp"\n\n'
        '// Longer than the standard promises, no longer than compilers take.\n'
        '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
        'namespace koord::workshop {\nnamespace {\nconstexpr EmbeddedFile files[] = {\n' + entries + '};\n}  // namespace\n\n'
        'std::span<const EmbeddedFile> embedded_files() { return files; }\n}  // namespace koord::workshop\n',
        encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
