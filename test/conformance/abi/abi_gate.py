#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the structs of plugin.h with those of a released version: they may have grown at their ends, no more.

usage: abi_gate.py HEADER RELEASED.xml    is the header compatible?
       abi_gate.py HEADER RELEASED.xml --self-test    is every way to break it found?
       abi_gate.py HEADER NEW.xml --accept    writes down a version that is about to be released

Tables travel as `const void *`, so a plugin's own file says nothing about them to abidiff. The anchor, a library with one
function for each struct, does. Members at the end of a struct that may grow are taken off before the comparison, which
then has to find no change at all: abidiff's own suppression of appended members (libabigail 2.2) lets retyped and
reordered ones by as well, as the self-test has shown.
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

STRUCT = re.compile(r'^(?:typedef )?struct (koord_\w+) \{[^\n]*\n(.*?)^\}[^\n]*;', re.S | re.M)
ASSERTS = re.compile(r'^KOORD_ASSERT_\(sizeof.*\n', re.M)
COMMENT = re.compile(r'/\*.*?\*/', re.S)
FROZEN = {'koord_str', 'koord_label', 'koord_host', 'koord_stop', 'koord_point', 'koord_histogram', 'koord_agg_row',
          'koord_sample', 'koord_cpu', 'koord_numa_node', 'koord_lifecycle'}


def structs_of(header):
    return [match.group(1) for match in STRUCT.finditer(header)]


def anchor_of(header):
    functions = (f'KOORD_EXPORT void anchor_{name}({name} *one);\nvoid anchor_{name}({name} *one) {{ (void)one; }}\n'
                 for name in structs_of(header))
    # The comparison here checks sizes, so size assertions are removed.
    return ASSERTS.sub('', header) + ''.join(functions)


def build_anchor(header, folder):
    (folder / 'anchor.c').write_text(anchor_of(header))
    command = ['gcc', '-std=c11', '-g', f'-ffile-prefix-map={folder}=.', '-shared', '-fPIC', '-fvisibility=hidden',
               '-o', 'koord-anchor.so', 'anchor.c']
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if compiled.returncode != 0:
        raise RuntimeError(compiled.stderr)
    return folder / 'koord-anchor.so'


def member_counts(released):
    """Returns the number of members of each struct."""
    root = xml.etree.ElementTree.parse(released).getroot()
    return {decl.get('name'): len(decl.findall('data-member')) for decl in root.iter('class-decl')
            if decl.get('is-declaration-only') != 'yes'}


def as_released(header, released):
    """Returns the header without members that growable structs got since the release, and without new structs."""
    counts = member_counts(released)
    for match in STRUCT.finditer(header):
        name, members = match.group(1), list(one_name_each(members_of(match.group(2))))
        if name in counts and name not in FROZEN:
            header = changed(header, name, members[:counts[name]])
    return header


def compare(header, released):
    """Returns (compatible, abidiff's output)."""
    with tempfile.TemporaryDirectory() as folder:
        library = build_anchor(as_released(header, released), pathlib.Path(folder))
        result = subprocess.run(['abidiff', '--harmless', '--no-added-syms', released, library], capture_output=True, text=True, check=False)
    return result.returncode == 0, result.stdout + result.stderr


def members_of(body):
    """Returns the declarations in a struct's body: text without comments, each up to its ';'."""
    return [' '.join(part.split()) + ';' for part in COMMENT.sub('', body).split(';') if part.strip()]


def one_name_each(members):
    """Yields each member separately, because `T a, *b;` are two members."""
    for member in members:
        match = re.fullmatch(r'((?:const |struct )*\w+) (\*?\w+(?:, \*?\w+)+);', member)
        yield from ([f'{match[1]} {name};' for name in match[2].split(', ')] if match else [member])


def retyped(member):
    """Returns a member of a different type with the same name and, if possible, the same size."""
    if '(*' in member:
        return re.sub(r'^.*?\(\*(\w+)\).*', r'void *\1;', member)
    types = {'uint64_t': 'int64_t', 'int64_t': 'uint64_t', 'double': 'uint64_t', 'uint32_t': 'int32_t', 'int32_t': 'uint32_t',
             'uint16_t': 'int16_t', 'koord_status': 'uint32_t'}
    kind, pointer, name = re.fullmatch(r'(?:const |struct )*(\w+) (\*?)(\w+;)', member).groups()
    if kind == 'koord_str':
        return 'uint64_t ' + name.replace(';', '[2];')
    return ('uint64_t' if pointer else types.get(kind, 'uint64_t')) + ' ' + name


def breakages(name, members):
    """Yields (change, members after it) for one struct."""
    yield 'an insert in the middle', members[:-1] + ['uint64_t inserted_;'] + members[-1:]
    yield 'a reorder', members[:-2] + [members[-1], members[-2]]
    yield 'a retype', members[:-1] + [retyped(members[-1])]
    yield 'a resize', members[:-1] + ['uint64_t ' + re.search(r'(\w+)(?:\)\(.*\))?;$', members[-1])[1] + '[5];']
    yield 'a removal', members[:-1]
    if name in FROZEN:
        yield 'an append to what is frozen', members + ['uint64_t appended_;']
    else:
        yield 'an append and a retype', members[:-1] + [retyped(members[-1]), 'uint64_t appended_;']


def changed(header, name, members):
    def body(match):
        if match.group(1) != name:
            return match.group(0)
        start, end = match.start(2) - match.start(0), match.end(2) - match.start(0)
        return match.group(0)[:start] + ''.join(f'  {member}\n' for member in members) + match.group(0)[end:]
    return STRUCT.sub(body, header)


def self_test(header, released):
    header = as_released(header, released)
    counts = member_counts(released)
    jobs = []
    for match in STRUCT.finditer(header):
        name, members = match.group(1), list(one_name_each(members_of(match.group(2))))
        if name not in counts:
            continue  # new since the release, so it is not part of the released contract
        jobs += [(name, what, False, changed(header, name, broken)) for what, broken in breakages(name, members)]
        if name not in FROZEN:
            jobs.append((name, 'an append', True, changed(header, name, members + ['uint64_t appended_;'])))
        jobs.append((name, 'no change but one name each', True, changed(header, name, members)))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda job: compare(job[3], released), jobs))
    wrong = 0
    for (name, what, wanted, _), (found, output) in zip(jobs, results):
        if wanted != found:
            wrong += 1
            print(f'{name}: {what} is {"green" if found else "red"}\n{output}')
    print(f'{len(jobs)} changes to {len(counts.keys() & set(structs_of(header)))} structs, {wrong} judged wrongly')
    return 1 if wrong else 0


def accept(header, released):
    with tempfile.TemporaryDirectory() as folder:
        library = build_anchor(header, pathlib.Path(folder))
        subprocess.run(['abidw', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs', '--no-elf-needed',
                        '--out-file', released, library], check=True)
    return 0


def main(arguments):
    if not shutil.which('abidiff'):
        print('SKIPPED: needs abidiff, as of apt-get install abigail-tools')
        return 77
    header = pathlib.Path(arguments[0]).read_text()
    if arguments[-1] == '--accept':
        return accept(header, arguments[1])
    if arguments[-1] == '--self-test':
        return self_test(header, arguments[1])
    compatible, output = compare(header, arguments[1])
    print(output)
    return 0 if compatible else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
