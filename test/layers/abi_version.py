#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all files state one version of the ABI: plugin.h, the bindings, templates and examples, the changelog.

usage: abi_version.py TREE RELEASED.xml    RELEASED is the newest released version: the changelog must name all additions since
       abi_version.py --self-test
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'conformance/abi'))
import abi_gate  # noqa: E402

LITERAL = re.compile(r'abi=(\d+\.\d+)')


def version_of(header):
    major, minor = (re.search(rf'#define KOORD_ABI_{part} (\d+)u', header)[1] for part in ('MAJOR', 'MINOR'))
    return f'{major}.{minor}'


def texts_problems(version, texts):
    """Yields the problems of `texts`, {path: content}, which authors copy or include."""
    for path, text in texts.items():
        for found in LITERAL.findall(text):
            if found != version:
                yield f'{path} says abi={found}, plugin.h is {version}'


def header_problems(header, rust):
    version = version_of(header)
    if f'#define KOORD_ABI_TEXT "{version}"' not in header:
        yield f'KOORD_ABI_TEXT is not "{version}"'
    mirrored = '.'.join(re.search(rf'KOORD_ABI_{part}: u16 = (\d+);', rust)[1] for part in ('MAJOR', 'MINOR'))
    if mirrored != version:
        yield f'abi.rs is {mirrored}, plugin.h {version}'


def new_names(header, counts):
    """Yields structs and members that the released version lacks."""
    for match in abi_gate.STRUCT.finditer(header):
        members = list(abi_gate.one_name_each(abi_gate.members_of(match[2])))
        if match[1] not in counts:
            yield match[1]
            continue
        for member in members[counts[match[1]]:]:
            yield re.search(r'\(\*(\w+)\)|(\w+)(?:\[\d+\])?;$', member).group(1) or re.search(r'(\w+)(?:\[\d+\])?;$', member)[1]


def changelog_problems(header, counts, changelog):
    version = version_of(header)
    headings = re.findall(r'^## (\S+)', changelog, re.M)
    if not headings or headings[0] != version:
        return [f'the changelog begins with {headings[:1]}, plugin.h is {version}']
    section = changelog.split(f'## {version}', 1)[1].split('\n## ', 1)[0]
    return [f'the changelog of {version} does not name {name}' for name in new_names(header, counts)
            if not re.search(rf'\b{name}\b', section)]


def self_test():
    header = ('#define KOORD_ABI_MAJOR 1u\n#define KOORD_ABI_MINOR 1u\n#define KOORD_ABI_TEXT "1.1"\n'
              'typedef struct koord_a {\n  uint32_t struct_size, rsv;\n  uint64_t added;\n} koord_a;\n')
    rust = 'KOORD_ABI_MAJOR: u16 = 1; KOORD_ABI_MINOR: u16 = 1;'
    good = '## 1.1\n`added`\n## 1.0\n'
    wrong = [
        list(texts_problems('1.1', {'a': 'abi=1.0'})),
        list(header_problems(header.replace('"1.1"', '"1.0"'), rust)),
        list(header_problems(header, rust.replace('MINOR: u16 = 1', 'MINOR: u16 = 0'))),
        changelog_problems(header, {'koord_a': 2}, good.replace('`added`', '')),
        changelog_problems(header, {'koord_a': 2}, good.replace('## 1.1', '## 1.2')),
        changelog_problems(header, {}, good),
    ]
    right = [list(texts_problems('1.1', {'a': 'abi=1.1'})), list(header_problems(header, rust)),
             changelog_problems(header, {'koord_a': 2}, good)]
    return all(wrong) and not any(right)


def main():
    if sys.argv[1:] == ['--self-test']:
        return 0 if self_test() else 1
    tree, released = pathlib.Path(sys.argv[1]), sys.argv[2]
    header = (tree / 'plugin-api/include/koordetector/plugin.h').read_text()
    rust = (tree / 'plugin-api/bindings/rust/abi.rs').read_text()
    files = [path for folder in ('plugin-api', 'examples') for path in sorted((tree / folder).rglob('*'))
             if path.is_file() and path.suffix in ('.c', '.cpp', '.h', '.hpp', '.rs', '.go')]
    texts = {str(path.relative_to(tree)): path.read_text() for path in files}
    problems = [*header_problems(header, rust), *texts_problems(version_of(header), texts),
                *changelog_problems(header, abi_gate.member_counts(released), (tree / 'plugin-api/CHANGELOG.md').read_text())]
    print('\n'.join(problems))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
