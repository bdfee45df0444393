#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header of core/, plugin-api/include/, plugins/ and bpf/ compiles alone, and twice.

usage: headers.py TREE BUILD    BUILD is the build folder: flags come from its compile_commands.json
       headers.py --self-test   a header that misses an include must be found

A .hpp is compiled as C++, a .h as C and as C++. What compiled once is not compiled again until the header,
something of ours that it includes, or the flags change: BUILD/headers-that-compile remembers.
"""
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

AREAS = ['core', 'plugin-api/include', 'plugins', 'bpf']
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
C_FLAGS = ['cc', '-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
# With these a flag is about the one object file, not about how the header reads.
SKIP_WITH_VALUE = {'-o', '-MF', '-MQ', '-MT', '-include'}
SKIP = {'-c', '-MD', '-MMD'}


def headers_of(tree):
    """Kernel-side headers (x.bpf.h) are for clang's BPF target and compiled there."""
    return [p for area in AREAS for p in sorted((tree / area).rglob('*.h*'))
            if p.suffix in ('.h', '.hpp') and not p.name.endswith(('.bpf.h', '.skel.h'))]


def flags_of(command, source):
    words = iter(shlex.split(command))
    compiler = [next(words)]
    if compiler[0].endswith('ccache'):
        compiler = [next(words)]
    flags = []
    for word in words:
        if word in SKIP_WITH_VALUE:
            next(words)
        elif word not in SKIP and word != source:
            flags.append(word)
    return compiler + flags


class Commands:
    """How to compile: a C++ header like a source of its folder, else like the first one; C by the standard."""

    def __init__(self, tree, build):
        self.tree, self.build = tree, build
        self.by_folder = {}
        for entry in json.loads((build / 'compile_commands.json').read_text()):
            path = (build / entry['file']).resolve()
            if path.suffix == '.cpp':
                self.by_folder.setdefault(path.parent, flags_of(entry['command'], entry['file']))
        self.first = next(iter(self.by_folder.values()))

    def of(self, header, language):
        flags = C_FLAGS if language == 'c' else self.by_folder.get(header.parent, self.first)
        return flags + [f'-I{self.tree}', f'-I{self.tree}/plugin-api/include', '-fsyntax-only', '-x', language, '-']


def closure(tree, header, seen):
    """The header and all of ours that it includes, directly or not."""
    if header in seen:
        return seen
    seen.add(header)
    for name in INCLUDE.findall(header.read_text(encoding='utf-8')):
        for base in (tree, tree / 'plugin-api/include', header.parent):
            if (base / name).is_file():
                closure(tree, (base / name).resolve(), seen)
                break
    return seen


def fingerprint(tree, header, command):
    digest = hashlib.sha256('\0'.join(command).encode())
    for path in sorted(closure(tree, header, set())):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compile_alone(header, command, folder):
    twice = f'#include "{header}"\n' * 2
    result = subprocess.run(command, input=twice, cwd=folder, capture_output=True, text=True, check=False)
    return '' if result.returncode == 0 else result.stderr


def check(tree, commands, known):
    """Yields (header, fingerprint, errors)."""
    jobs = []
    for header in headers_of(tree):
        for language in ['c++'] if header.suffix == '.hpp' else ['c', 'c++']:
            command = commands.of(header, language)
            jobs.append((header, command, fingerprint(tree, header, command)))
    jobs = [job for job in jobs if job[2] not in known]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        errors = pool.map(lambda job: compile_alone(job[0], job[1], commands.build), jobs)
        for (header, _, mark), text in zip(jobs, errors):
            yield header, mark, text


def check_tree(tree, build):
    memory = build / 'headers-that-compile'
    known = set(memory.read_text().split()) if memory.exists() else set()
    failed = 0
    with memory.open('a') as remembered:
        for header, mark, errors in check(tree, Commands(tree, build), known):
            if errors:
                failed += 1
                print(f'{header.relative_to(tree)} does not compile alone:\n{errors}')
            else:
                print(mark, file=remembered, flush=True)
    return 1 if failed else 0


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve()
        (tree / 'core/x').mkdir(parents=True)
        (tree / 'core/x/good.hpp').write_text('#pragma once\n#include <string>\nstd::string good();\n')
        (tree / 'core/x/missing.hpp').write_text('#pragma once\nstd::string missing();\n')
        (tree / 'core/x/unguarded.hpp').write_text('struct Unguarded {};\n')
        (tree / 'compile_commands.json').write_text(json.dumps(
            [{'file': 'core/x/x.cpp', 'command': 'c++ -std=c++20 -o x.o -c core/x/x.cpp'}]))
        found = {header.name for header, _, errors in check(tree, Commands(tree, tree), set()) if errors}
        if found != {'missing.hpp', 'unguarded.hpp'}:
            print(f'expected missing.hpp and unguarded.hpp to be found, got {found}')
            return 1
    return 0


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    tree, build = (pathlib.Path(a).resolve() for a in arguments)
    return check_tree(tree, build)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
