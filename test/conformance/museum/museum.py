#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of a released version, as they were built then, on the host of today.

usage: museum.py KOORDCTL FOLDER            each breaks no rule and gives what it gave then
       museum.py KOORDCTL FOLDER --accept   writes down what they give: once, when a version is released

FOLDER holds NAME.so.xz, stripped, and NAME.json, what it measured on node/, a node of files beside this script. A value
of null there was the machine's own and may be any. What is in a folder is never built again.
"""
import json
import lzma
import pathlib
import subprocess
import sys
import tarfile
import tempfile

NODE = pathlib.Path(__file__).parent / 'node'


def make_fixture(folder):
    path = folder / 'node.tar'
    with tarfile.open(path, 'w') as tar:
        for file in sorted(NODE.rglob('*')):
            if file.is_file():
                tar.add(file, file.relative_to(NODE))
    return path


def unpack(exhibit, folder):
    plugin = folder / exhibit.name.removesuffix('.xz')
    plugin.write_bytes(lzma.decompress(exhibit.read_bytes()))
    plugin.chmod(0o755)
    return plugin


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def measured(koordctl, plugin, fixture):
    """What it gives on the node, and None; or nothing, and why."""
    done = run(koordctl, 'plugin', 'run', '--node', fixture, '--ticks', '2', '-o', 'json', plugin)
    if done.returncode != 0:
        return None, done.stdout + done.stderr
    return json.loads(done.stdout)['metrics'], None


def differences(then, now):
    key = lambda row: (row['metric'], sorted(row['labels'].items()))
    for old, new in zip(sorted(then, key=key), sorted(now, key=key)):
        wanted = dict(old, value=new['value']) if old['value'] is None else old
        if wanted != new:
            yield f'was {old}, is {new}'
    if len(then) != len(now):
        yield f'were {len(then)} series, are {len(now)}'


def visit(koordctl, exhibit, fixture, folder):
    """What is wrong with it today, as lines."""
    plugin = unpack(exhibit, folder)
    checked = run(koordctl, 'plugin', 'check', plugin)
    if checked.returncode != 0:
        return [checked.stdout + checked.stderr]
    now, why = measured(koordctl, plugin, fixture)
    if why:
        return [why]
    then = json.loads(exhibit.with_name(plugin.stem + '.json').read_text())
    return list(differences(then, now)) if then else ['nothing was measured then']


def accept(koordctl, exhibit, fixture, folder):
    plugin = unpack(exhibit, folder)
    rows, why = measured(koordctl, plugin, fixture)
    if why:
        sys.exit(why)
    exhibit.with_name(plugin.stem + '.json').write_text(json.dumps(rows, indent=1) + '\n')
    return []


def main(koordctl, version, mode=None):
    failed = 0
    exhibits = sorted(pathlib.Path(version).glob('*.so.xz'))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fixture = make_fixture(folder)
        for exhibit in exhibits:
            wrong = (accept if mode == '--accept' else visit)(koordctl, exhibit, fixture, folder)
            print(f'{exhibit.name}: {"as it was" if not wrong else wrong}')
            failed += bool(wrong)
    return 1 if failed or not exhibits else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
