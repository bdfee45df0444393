#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the released examples of an earlier version, unchanged, on the current host: as root, each with the isolation of a
third-party plugin in an agent.

usage: abi_corpus.py KOORDCTL FOLDER            each must break no rule and give its recorded results
       abi_corpus.py KOORDCTL FOLDER --accept   records the results: once, when a version is released

FOLDER holds NAME.so.xz, stripped, and NAME.json, the results of a run on node/, a node of files beside this script:
metrics, proposals, adjustments, scrapes and calls. A value of null there depends on the machine and may be any value.
NAME.set, if present, has settings, KEY=VALUE each. Plugins in a folder are never built again.
"""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

NODE = pathlib.Path(__file__).parent / 'node'
CONFINED = ['--confined'] if os.geteuid() == 0 else []


def make_fixture(folder):
    path = folder / 'node.tar'
    with tarfile.open(path, 'w') as tar:
        for file in sorted(NODE.rglob('*')):
            if file.is_file():
                tar.add(file, file.relative_to(NODE))
    return path


def unpack(binary, folder):
    plugin = folder / binary.name.removesuffix('.xz')
    plugin.write_bytes(lzma.decompress(binary.read_bytes()))
    plugin.chmod(0o755)
    return plugin


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def results_of(koordctl, binary, plugin, fixture):
    """Returns the results of a run without parts that differ between runs, and None; or None and the reason."""
    settings = binary.with_name(plugin.stem + '.set')
    sets = ['--set=' + line for line in settings.read_text().splitlines()] if settings.exists() else []
    done = run(koordctl, 'plugin', 'run', *CONFINED, '--node', fixture, '--ticks', '2', '-o', 'json', *sets, plugin)
    if done.returncode != 0:
        return None, done.stdout + done.stderr
    report = json.loads(done.stdout)
    report['calls'] = [{key: call[key] for key in ('class', 'call', 'tick', 'status')} for call in report['calls']]
    report['metrics'].sort(key=lambda row: (row['metric'], sorted(row['labels'].items())))
    return report, None


def differences(then, now):
    for part in then:
        for old, new in zip(then[part], now[part]):
            wanted = dict(old, value=new['value']) if part == 'metrics' and old['value'] is None else old
            # Later versions may report more.
            if wanted != {key: new[key] for key in new if key in wanted}:
                yield f'{part}: was {old}, is {new}'
        if len(then[part]) != len(now[part]):
            yield f'{part}: were {len(then[part])}, are {len(now[part])}'


def differences_from_record(koordctl, binary, fixture, folder):
    """Returns the differences from the recorded results as lines."""
    plugin = unpack(binary, folder)
    checked = run(koordctl, 'plugin', 'check', plugin)
    if checked.returncode != 0:
        return [checked.stdout + checked.stderr]
    now, why = results_of(koordctl, binary, plugin, fixture)
    if why:
        return [why]
    then = json.loads(binary.with_name(plugin.stem + '.json').read_text())
    return list(differences(then, now))


def accept(koordctl, binary, fixture, folder):
    plugin = unpack(binary, folder)
    report, why = results_of(koordctl, binary, plugin, fixture)
    if why:
        sys.exit(why)
    binary.with_name(plugin.stem + '.json').write_text(json.dumps(report, indent=1) + '\n')
    return []


def main(koordctl, version, mode=None):
    failed = 0
    binaries = sorted(pathlib.Path(version).glob('*.so.xz'))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fixture = make_fixture(folder)
        for binary in binaries:
            wrong = (accept if mode == '--accept' else differences_from_record)(koordctl, binary, fixture, folder)
            print(f'{binary.name}: {"as it was" if not wrong else wrong}')
            failed += bool(wrong)
    return 1 if failed or not binaries else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
