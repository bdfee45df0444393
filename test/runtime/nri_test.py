#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The NRI client with a real containerd 1.7 and real containers.

usage: nri_test.py FOLDER PLUGIN

FOLDER keeps the packages, PLUGIN is the program nri-plugin. Ends with 77, which is meson's "skipped", where containerd is
unavailable, and prints the reason.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
import packages  # noqa: E402

SKIP = 77
UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages
CONTAINER = 'adjusted'
SHARES = '345'  # set by nri-plugin
PLUGIN_SHARES_OF_UPDATES = '999'


class Plugin:
    """A running nri-plugin and the lines that it prints."""

    def __init__(self, program, socket, files):
        self.process = subprocess.Popen([program, socket, CONTAINER, *files], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.lines, self.next = [], 0
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip('\n'))
                self.changed.notify_all()

    def expect(self, start):
        """Waits for the next line with this beginning, and returns it. Skips the lines before it."""
        def found():
            return next((i for i in range(self.next, len(self.lines)) if self.lines[i].startswith(start)), None)
        with self.changed:
            if not self.changed.wait_for(lambda: found() is not None, timeout=containerd.LIMIT):
                raise AssertionError(f'no line "{start}" in {self.lines[self.next:]}')
            at = found()
            self.next = at + 1
            return self.lines[at]

    def ask(self, request, start):
        self.process.stdin.write(request + '\n')
        self.process.stdin.flush()
        return self.expect(start)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


def shares_file():
    """Returns a path with {} for the cgroup, and a function from shares to the file's content."""
    for hierarchy in containerd.hierarchies():
        if (hierarchy / 'cpu.shares').exists():
            return f'{hierarchy}{{}}/cpu.shares', str
    # The weight of cgroup v2 to which runc 1.1 converts shares.
    return '/sys/fs/cgroup{}/cpu.weight', lambda shares: str(1 + (int(shares) - 2) * 9999 // 262142)


def cpuset_file():
    for hierarchy in containerd.hierarchies():
        if (hierarchy / 'cpuset.cpus').exists():
            return f'{hierarchy}{{}}/cpuset.cpus'
    return '/sys/fs/cgroup{}/cpuset.cpus'


class NriTest(unittest.TestCase):
    def setUp(self):
        self.shares_path, self.shares = shares_file()
        self.cpuset_path = cpuset_file()
        self.plugin = Plugin(program, runtime.nri_socket, [self.shares_path, self.cpuset_path])
        self.addCleanup(self.plugin.end)
        self.addCleanup(self.remove_pods)
        self.plugin.expect('connected containerd 1.7')
        self.plugin.expect('Synchronize')

    def remove_pods(self):
        runtime.cri.remove_pods()

    def run_pod(self, name, **annotations):
        parent = f'{runtime.cgroup}/pod-{name}'
        pod = runtime.cri.run_pod(name, parent, {'koord.test/' + key: value for key, value in annotations.items()}
                                  | {'unused': 'x' * 100})
        self.plugin.expect(f'RunPodSandbox {name} {parent} annotations {len(annotations)}')
        return pod, parent

    def run_container(self, pod, name=CONTAINER):
        container = runtime.cri.create_container(pod, name, {'cpu_shares': 512})
        runtime.cri.start(container)
        return container

    def read(self, path, parent, container):
        return pathlib.Path(path.replace('{}', f'{parent}/{container}')).read_text().strip()

    def test_an_adjustment_is_in_the_cgroup_before_the_program_starts_and_in_its_environment(self):
        pod, parent = self.run_pod('first')
        container = self.run_container(pod)
        self.plugin.expect(f'CreateContainer first {CONTAINER} shares 512')
        for path, value in ((self.shares_path, self.shares(SHARES)), (self.cpuset_path, '0')):
            self.assertEqual(self.plugin.expect('file '), f'file {path.replace("{}", f"{parent}/{container}")} {value}')
        self.plugin.expect('StartContainer ' + CONTAINER)
        environment = pathlib.Path(f'/proc/{runtime.cri.pid(container)}/environ').read_bytes().split(b'\0')
        self.assertIn(b'FROM_HOOK=adjusted', environment)
        self.assertIn(b'FROM_SPEC=1', environment)

    def test_a_container_that_no_hook_adjusts_is_as_in_its_spec(self):
        pod, parent = self.run_pod('plain')
        container = self.run_container(pod, 'plain')
        self.assertEqual(self.read(self.shares_path, parent, container), self.shares('512'))
        environment = pathlib.Path(f'/proc/{runtime.cri.pid(container)}/environ').read_bytes()
        self.assertNotIn(b'FROM_HOOK', environment)

    def test_a_container_is_updated_on_request_of_the_plugin_and_within_an_update_of_the_kubelet(self):
        pod, parent = self.run_pod('updated')
        container = self.run_container(pod)
        self.assertEqual(self.plugin.ask(f'shares {container} 700', 'updated'), 'updated')
        self.assertEqual(self.read(self.shares_path, parent, container), self.shares('700'))
        runtime.cri.update(container, {'cpu_quota': 50000, 'cpu_period': 100000})
        self.assertEqual(self.plugin.expect('UpdateContainer'), f'UpdateContainer {CONTAINER} shares unset quota 50000')
        self.assertEqual(self.read(self.shares_path, parent, container), self.shares(PLUGIN_SHARES_OF_UPDATES))

    def test_a_refusal_reaches_the_client_of_the_runtime(self):
        pod, _ = self.run_pod('refused', refuse='hook-test: no device is free')
        with self.assertRaises(Exception) as raised:
            self.run_container(pod)
        self.assertIn('hook-test: no device is free', str(raised.exception))

    def test_a_handler_that_never_answers_stops_no_container(self):
        pod, parent = self.run_pod('silent', silent='yes')
        container = self.run_container(pod)
        self.assertEqual(self.read(self.shares_path, parent, container), self.shares('512'))
        self.assertIn('timed_out 1', self.plugin.ask('status', 'status'))

    def test_the_end_of_containers_and_pods_is_reported(self):
        pod, _ = self.run_pod('ending')
        self.run_container(pod)
        self.remove_pods()
        for line in (f'StopContainer {CONTAINER}', 'StopPodSandbox ending', f'RemoveContainer {CONTAINER}',
                     'RemovePodSandbox ending'):
            self.plugin.expect(line)

    def test_after_a_kill_of_containerd_there_is_one_connection_again(self):
        pod, parent = self.run_pod('survivor')
        container = self.run_container(pod)
        runtime.kill()
        self.plugin.expect('disconnected')
        runtime.start()
        self.plugin.expect('connected containerd 1.7')
        self.assertEqual(self.plugin.expect('Synchronize'), 'Synchronize 1 1')
        status = self.plugin.ask('status', 'status')
        self.assertTrue(status.startswith('status active connections 2 reconnects 1'), status)
        # A second container of the same pod. Its event must come only once.
        second = self.run_container(pod, 'second')
        self.plugin.expect('PostStartContainer second')
        self.assertEqual(self.plugin.lines.count('CreateContainer survivor second shares 512'), 1)
        self.assertEqual(self.read(self.shares_path, parent, second), self.shares('512'))
        self.assertEqual(self.read(self.shares_path, parent, container), self.shares(SHARES))


def run_again_on_unpacked_python():
    """Runs this file with the unpacked Python, which has the modules of the CRI client."""
    try:
        packages.check_available()
        root = packages.unpack(sys.argv[1], packages.CONTAINERD)
    except packages.Unavailable as error:
        print(f'skipped: {error}')
        sys.exit(SKIP)
    command, environment = packages.python_command(root, pathlib.Path(__file__).parent)
    os.execve(command[0], command + sys.argv, environment | {UNPACKED: str(root)})


if __name__ == '__main__':
    if UNPACKED not in os.environ:
        run_again_on_unpacked_python()
    import containerd
    program = sys.argv[2]
    # The path must be short, because a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder, \
            containerd.Containerd(pathlib.Path(os.environ[UNPACKED]), folder) as runtime:
        unittest.main(argv=sys.argv[:1])
