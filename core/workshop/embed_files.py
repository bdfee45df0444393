#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that holds files, compressed as one, for core/workshop/embedded_files.hpp.

usage: embed_files.py OUTPUT ROOT FILE...    the table has the files' paths below ROOT
"""
import gzip
import os
import pathlib
import sys


def literal(content):
    """Returns octal escapes. Each escape has three digits, so a digit that follows an escape is not part of it."""
    lines = [content[i:i + 32] for i in range(0, len(content), 32)]
    return '\n'.join('    "' + ''.join(f'\\{byte:03o}' for byte in line) + '"' for line in lines)


def text_of(path):
    text = path.read_bytes().decode('utf-8')
    if not text.endswith('\n') or '\r' in text or '\0' in text:
        sys.exit(f'embed_files.py: {path}: expected lines of text, the last one ended')
    return text.encode()


def main(output, root, *files):
    root = pathlib.Path(root).resolve()
    paths = sorted(pathlib.Path(file).resolve() for file in files)
    texts = [text_of(path) for path in paths]
    packed = gzip.compress(b''.join(texts), compresslevel=9, mtime=0)
    entries = ''.join(f'    {{"{path.relative_to(root).as_posix()}", {len(text)}, {"true" if os.access(path, os.X_OK) else "false"}}},\n'
                      for path, text in zip(paths, texts))
    pathlib.Path(output).write_text(
        '// Made by core/workshop/embed_files.py.\n'
        '#include "core/workshop/embedded_files.hpp"\n\n'
        '// Longer than the standard promises, no longer than compilers take.\n'
        '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
        'namespace koord::workshop {\nnamespace {\n'
        'constexpr EmbeddedArchive::Entry entries[] = {\n' + entries + '};\n'
        'constexpr char packed[] =\n' + literal(packed) + ';\n'
        'constexpr EmbeddedArchive kEmbedded{{packed, sizeof packed - 1}, entries};\n}  // namespace\n\n'
        'const EmbeddedArchive& embedded_archive() { return kEmbedded; }\n}  // namespace koord::workshop\n',
        encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
