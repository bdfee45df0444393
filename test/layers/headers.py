#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header of core/, plugin-api/include/, plugins/ and bpf/ compiles alone, and twice.

usage: headers.py TREE BUILD    BUILD is the build folder: flags come from its compile_commands.json
       headers.py --self-test   a header that misses an include must be found

A .hpp is compiled as C++, a .h as C and as C++, in a small source of its own below BUILD/headers, by ccache where the
build uses it: unchanged headers cost nothing, in a new build folder either. A header with `#pragma once` that a source of the
build includes first, without a precompiled header, has compiled alone already.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

AREAS = ['core', 'plugin-api/include', 'plugins', 'bpf']
C_FLAGS = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
# Flags, with a value, that only concern the object file, and not how the header is parsed.
SKIP_WITH_VALUE = {'-o', '-MF', '-MQ', '-MT', '-include'}
SKIP = {'-c', '-MD', '-MMD'}
# Only the parsing matters.
LIGHT = ['-O0', '-g0', '-U_FORTIFY_SOURCE']


def headers_of(tree):
    """Returns the headers. Headers for the BPF side (x.bpf.h) are left out, because clang compiles them for its BPF target."""
    return [p for area in AREAS for p in sorted((tree / area).rglob('*.h*'))
            if p.suffix in ('.h', '.hpp') and not p.name.endswith(('.bpf.h', '.skel.h'))]


def flags_of(command, source):
    """Returns the compiler (with ccache if the command uses it) and its flags."""
    words = iter(shlex.split(command))
    flags = [next(words)]
    if flags[0].endswith('ccache'):
        flags.append(next(words))
    for word in words:
        if word in SKIP_WITH_VALUE:
            next(words)
        elif word not in SKIP and word != source:
            flags.append(word)
    return flags


def first_line(source):
    """Returns the first line of a source that is neither empty nor a `//` comment."""
    with source.open() as lines:
        return next((line.strip() for line in lines if line.strip() and not line.startswith('//')), '')


class Commands:
    """The compile commands. A C++ header is compiled like a source of its folder, or else like the first source. A C
    header is compiled by the standard."""

    def __init__(self, tree, build):
        self.build = build
        # ccache compares commands, so they must not contain the folder's path
        self.tree = pathlib.Path(os.path.relpath(tree, build))
        self.by_folder = {}
        self.first_includes = set()
        for entry in json.loads((build / 'compile_commands.json').read_text()):
            path = (build / entry['file']).resolve()
            if path.suffix == '.cpp':
                self.by_folder.setdefault(path.parent, flags_of(entry['command'], entry['file']))
                if '-include' not in entry['command'] and path.exists():
                    self.first_includes.add(first_line(path))
        self.first = next(iter(self.by_folder.values()))

    def compiled_already(self, tree, header):
        return f'#include "{header.relative_to(tree)}"' in self.first_includes and '#pragma once' in header.read_text()

    def of(self, header, language):
        flags = self.by_folder.get(header.parent, self.first)
        if language == 'c':
            flags = [word for word in flags[:1] if word.endswith('ccache')] + ['cc'] + C_FLAGS
        return flags + [f'-I{self.tree}', f'-I{self.tree}/plugin-api/include'] + LIGHT


def compile_alone(tree, header, language, commands):
    """Returns the errors."""
    name = header.relative_to(tree)
    source = pathlib.Path('headers') / f'{str(name).replace("/", "-")}.{"c" if language == "c" else "cpp"}'
    (commands.build / source).write_text(f'#include "{name}"\n' * 2)
    command = commands.of(header, language) + ['-MD', '-MF', f'{source}.d', '-c', str(source), '-o', f'{source}.o']
    result = subprocess.run(command, cwd=commands.build, capture_output=True, text=True, check=False)
    return '' if result.returncode == 0 else result.stderr


def check(tree, build):
    """Yields (header, errors)."""
    (build / 'headers').mkdir(exist_ok=True)
    commands = Commands(tree, build)
    jobs = [(header, language) for header in headers_of(tree) if not commands.compiled_already(tree, header)
            for language in (['c++'] if header.suffix == '.hpp' else ['c', 'c++'])]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for (header, _), errors in zip(jobs, pool.map(lambda job: compile_alone(tree, *job, commands), jobs)):
            yield header, errors


def check_tree(tree, build):
    failed = 0
    for header, errors in check(tree, build):
        if errors:
            failed += 1
            print(f'{header.relative_to(tree)} does not compile alone:\n{errors}')
    return 1 if failed else 0


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve()
        (tree / 'core/x').mkdir(parents=True)
        (tree / 'core/x/good.hpp').write_text('#pragma once\n#include <string>\nstd::string good();\n')
        (tree / 'core/x/missing.hpp').write_text('#pragma once\nstd::string missing();\n')
        (tree / 'core/x/unguarded.hpp').write_text('struct Unguarded {};\n')
        (tree / 'compile_commands.json').write_text(json.dumps(
            [{'file': 'core/x/x.cpp', 'command': 'c++ -std=c++20 -o x.o -c core/x/x.cpp'},
             {'file': 'core/x/p.cpp', 'command': 'c++ -std=c++20 -include p.hpp -o p.o -c core/x/p.cpp'}]))
        # Only a source without a precompiled header proves that its first header compiles alone.
        (tree / 'core/x/x.cpp').write_text('// x\n\n#include "core/x/compiled.hpp"\n#include "core/x/second.hpp"\n')
        (tree / 'core/x/p.cpp').write_text('#include "core/x/missing.hpp"\n')
        (tree / 'core/x/compiled.hpp').write_text('#pragma once\nno_code_at_all\n')
        (tree / 'core/x/second.hpp').write_text('#pragma once\nstd::string second();\n')
        found = {header.name for header, errors in check(tree, tree) if errors}
        if found != {'missing.hpp', 'second.hpp', 'unguarded.hpp'}:
            print(f'expected missing.hpp, second.hpp and unguarded.hpp to be found, got {found}')
            return 1
    return 0


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    tree, build = (pathlib.Path(a).resolve() for a in arguments)
    return check_tree(tree, build)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
