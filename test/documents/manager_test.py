#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of two READMEs, as they are, with the cluster for tests: those that start koord-manager by hand
(core/manager/README.md), and those that allow a user to read from it (test/support/cluster/README.md).

usage: manager_test.py TREE BUILD    exit status 77: kubectl, curl or openssl is missing, or the documents' ports are in use
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from blocks import blocks_of  # noqa: E402

tree, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
MARK = 'tested by test/documents/manager_test.py'
FOLDER_OF_DOCUMENT = '/run/koord-cluster'
PORTS = (9320, 9443)
SECONDS = 120
SKIPPED = 77


def section_of(path, title):
    return (tree / path).read_text(encoding='utf-8').split(f'\n## {title}\n')[1].split('\n## ')[0]


def blocks_in(path, text, language, mark):
    return [block.code for block in blocks_of(path, text) if block.language == language and block.mark == mark]


def is_free(port):
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(('127.0.0.1', port)) != 0


def wait_for(what, seconds=SECONDS):
    """Returns the first result that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := what():
            return result
        time.sleep(0.2)
    raise AssertionError(f'{what.__name__}: nothing within {seconds} s')


class ByHand(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='koord-test-by-hand-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        cluster = subprocess.Popen([tree / 'test/support/cluster/run', '--folder', self.folder / 'cluster'], stdout=subprocess.DEVNULL)
        self.addCleanup(cluster.wait)
        self.addCleanup(cluster.terminate)
        facts = self.folder / 'cluster/ready.json'

        def ready():
            return facts.exists()
        wait_for(ready)
        self.facts = json.loads(facts.read_text())
        programs = f'{build}/core/manager:{build}/core/ctl:{os.environ["PATH"]}'
        self.environment = {**os.environ, 'PATH': programs, 'KUBECONFIG': self.facts['kubeconfig'], 'HOME': str(self.folder)}
        (self.folder / 'work').mkdir()

    def run_commands(self, commands):
        """Runs them in one shell, in a process group that ends with the test. Returns their output."""
        with open(self.folder / 'output', 'w+', encoding='utf-8') as output:
            shell = subprocess.Popen(['bash', '-euc', commands], cwd=self.folder / 'work', env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            self.addCleanup(self.end_group, shell.pid)
            status = shell.wait(SECONDS)
            text = pathlib.Path(output.name).read_text(encoding='utf-8')
        self.assertEqual(status, 0, text)
        return text

    @staticmethod
    def end_group(group):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGTERM)

    def kubectl(self, *arguments):
        done = subprocess.run(['kubectl', *arguments], env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout if done.returncode == 0 else ''

    def spec_of_slo(self):
        text = self.kubectl('get', 'nodeslo', self.facts['node'], '-o', 'json')
        return json.loads(text)['spec'] if text else None

    def test_koord_manager_starts_by_hand_as_its_readme_says(self):
        section = section_of('core/manager/README.md', 'By hand')
        commands = blocks_in('core/manager/README.md', section, 'sh', MARK)
        self.assertEqual(len(commands), 2)
        self.assertIn('the configuration is valid', self.run_commands('\n'.join(commands)))
        self.assertEqual(wait_for(self.spec_of_slo), json.loads(blocks_in('core/manager/README.md', section, 'json', '')[0]))

        def page():
            return subprocess.run(['curl', '-s', '127.0.0.1:9320/readyz'], capture_output=True, text=True, check=False).stdout
        self.assertEqual(page().strip(), 'ok')

        path = 'test/support/cluster/README.md'
        rules = blocks_in(path, (tree / path).read_text(encoding='utf-8'), 'sh', MARK)
        self.assertEqual(len(rules), 1)
        self.assertIn(FOLDER_OF_DOCUMENT, rules[0])
        self.assertNotIn('nodemetrics', self.kubectl('get', '--raw', '/apis/metrics.koordetector.sh/v1alpha1'))
        self.run_commands(rules[0].replace(FOLDER_OF_DOCUMENT, str(self.folder / 'cluster')))

        def nodemetrics():
            return self.kubectl('get', '--raw', '/apis/metrics.koordetector.sh/v1alpha1/nodemetrics')
        self.assertEqual(json.loads(wait_for(nodemetrics))['kind'], 'NodeMetricList')

    def test_the_facts_of_the_cluster_are_those_of_its_readme(self):
        text = (tree / 'test/support/cluster/README.md').read_text(encoding='utf-8').split('| fact | value |')[1].split('\n\n')[0]
        named = {name.strip('` ') for row in text.split('\n')[2:] for name in row.split('|')[1].split(',')}
        self.assertEqual(named, set(self.facts))


if __name__ == '__main__':
    missing = [program for program in ('kubectl', 'curl', 'openssl') if shutil.which(program) is None]
    in_use = [str(port) for port in PORTS if not is_free(port)]
    if missing or in_use:
        print('SKIPPED: needs ' + ', '.join(missing + [f'port {port}, which is in use' for port in in_use]))
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
