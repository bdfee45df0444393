# SPDX-License-Identifier: Apache-2.0
"""packaging/quickstart finds the host that it started, however its tree is reached. Failed phases say why. Usage: quickstart_test.py TREE"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(sys.argv.pop(1))
NOBODY = 65534  # the pid file of root's quickstart would be in /run of this machine
USER = {'user': NOBODY, 'group': NOBODY} if os.geteuid() == 0 else {}


class Quickstart(unittest.TestCase):
    """A tree with a host that only waits, in the state that quickstart leaves."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        self.tree, self.link = root / 'tree', root / 'link'
        (self.tree / 'packaging').mkdir(parents=True)
        for file in ('quickstart', 'phases.sh'):
            shutil.copy(TREE / 'packaging' / file, self.tree / 'packaging')
        self.host = self.tree / 'build/core/agentd/koordetector'
        self.host.parent.mkdir(parents=True)
        shutil.copy(shutil.which('sleep'), self.host)
        (self.tree / 'build/quickstart').mkdir()
        self.link.symlink_to(self.tree)
        if USER:
            for path in [root, *root.rglob('*')]:
                os.lchown(path, NOBODY, NOBODY)
        self.process = subprocess.Popen([self.host, '1000'], **USER)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        (self.tree / 'build/quickstart/quickstart.pid').write_text(f'{self.process.pid}\n')

    def quickstart(self, tree, command):
        return subprocess.run([tree / 'packaging/quickstart', command], text=True, capture_output=True, check=False, **USER)

    def test_status_through_a_symbolic_link_finds_the_host(self):
        status = self.quickstart(self.link, 'status')
        self.assertIn(f'pid {self.process.pid}', status.stdout)
        self.assertEqual(status.returncode, 0)

    def test_stop_through_a_symbolic_link_ends_the_host(self):
        self.assertEqual(self.quickstart(self.link, 'stop').stdout, 'stopped\n')
        self.assertIsNotNone(self.process.wait(10))

    def test_stop_ends_a_host_with_a_file_that_a_newer_build_replaced(self):
        self.host.unlink()
        self.assertEqual(self.quickstart(self.tree, 'stop').stdout, 'stopped\n')

    def test_stop_leaves_another_program_with_the_same_number_alone(self):
        other = subprocess.Popen([shutil.which('sleep'), '1000'], **USER)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        (self.tree / 'build/quickstart/quickstart.pid').write_text(f'{other.pid}\n')
        self.assertEqual(self.quickstart(self.link, 'stop').stdout, 'not running\n')
        self.assertIsNone(other.poll())


class FailedPhase(unittest.TestCase):
    """A phase of quickstart or test/run shows why its command failed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def shown(self, command):
        (self.tree / 'packaging').mkdir()
        shutil.copy(TREE / 'packaging/phases.sh', self.tree / 'packaging')
        script = '. "$1/packaging/phases.sh"; phase compile "$top/log" sh -c "$2"'
        phase = subprocess.run(['bash', '-c', script, 'bash', self.tree, command], text=True, capture_output=True, check=False)
        self.assertNotEqual(phase.returncode, 0)
        return phase.stdout

    def test_an_error_far_above_the_end_is_shown(self):
        self.assertIn('a.cpp:1:2: error: no such type\n', self.shown('echo "a.cpp:1:2: error: no such type"; seq 100; exit 1'))

    def test_a_full_disk_is_named(self):
        if os.geteuid() != 0:
            self.skipTest('only root mounts a small disk')
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'koord-test-small-disk', self.tree], check=True)
        self.addCleanup(subprocess.run, ['umount', self.tree], check=True)
        self.assertIn(f'MB are free on the disk of {self.tree}\n', self.shown('exit 1'))


unittest.main()
