#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each library of the plugins with eBPF compiles as one source, as packaging/quickstart compiles it: names in its anonymous namespaces
are unique. The sanitized build of test/run compiles all others so; it has no eBPF.

usage: unity.py TREE BUILD | unity.py --self-test
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def sources_of(target):
    """Returns the C++ sources of a target with the compiler and its arguments; nothing if it has fewer than two."""
    for group in target.get('target_sources', []):
        sources = [source for source in group.get('sources', []) if source.endswith('.cpp')]
        if group.get('language') == 'cpp' and len(sources) > 1:
            return group['compiler'], group['parameters'], sources
    return None


def has_bpf(tree, target):
    defined = pathlib.Path(target['defined_in'])
    return tree / 'plugins' in defined.parents and 'bpf' in defined.read_text()


def error_of(build, compiler, parameters, sources):
    """Returns the compiler's messages about all sources as one; empty if it accepts them."""
    with tempfile.NamedTemporaryFile('w', suffix='.cpp', prefix='koord-test-unity-') as file:
        file.write(''.join(f'#include "{source}"\n' for source in sources))
        file.flush()
        done = subprocess.run([*compiler, *parameters, '-O0', '-U_FORTIFY_SOURCE', '-Wno-subobject-linkage', '-fsyntax-only', file.name],
                              cwd=build, capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ''


def self_test():
    with tempfile.TemporaryDirectory(prefix='koord-test-unity-') as folder:
        paths = []
        for name, kind in (('one', 'int'), ('other', 'long')):
            paths.append(f'{folder}/{name}.cpp')
            pathlib.Path(paths[-1]).write_text(f'namespace {{ {kind} same() {{ return 1; }} }}\n{kind} {name}() {{ return same(); }}\n')
        both, alone = (error_of(folder, ['c++'], ['-std=c++20'], some) for some in (paths, paths[:1]))
    return 0 if 'same' in both and not alone else 1


def main(tree, build):
    targets = json.loads(subprocess.run(['meson', 'introspect', '--targets', build], capture_output=True, text=True, check=True).stdout)
    wrong = checked = 0
    for target in targets:
        found = sources_of(target) if has_bpf(tree, target) else None
        if not found:
            continue
        checked += 1
        if error := error_of(build, *found):
            wrong += 1
            print(f"{target['name']}: does not compile as one source:\n{error}")
    print(f'{checked} libraries checked, {wrong} wrong')
    return 1 if wrong or not checked else 0


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1:] == ['--self-test'] else main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]))
