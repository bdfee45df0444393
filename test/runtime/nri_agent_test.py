#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent as an NRI plugin of a real containerd 1.7: a runtime hook's values in real containers.

usage: nri_agent_test.py FOLDER BUILD

FOLDER keeps the packages, BUILD is the build folder. Ends with 77, which is meson's "skipped", where containerd is
unavailable, and prints the reason.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import packages  # noqa: E402

SKIP = 77
UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages
BATCH = {'koordinator.sh/qosClass': 'BE'}
# 500 milli-cores requested, 800 at most, 64 MiB.
SPEC = '{"containers": {"main": {"requests": {"kubernetes.io/batch-cpu": "500", "kubernetes.io/batch-memory": "64Mi"}, ' \
       '"limits": {"kubernetes.io/batch-cpu": "800", "kubernetes.io/batch-memory": "64Mi"}}}}'
RESOURCES = {'node.koordinator.sh/extended-resource-spec': SPEC}
# The kubelet's request for a best-effort pod.
OF_KUBELET = {'cpu_shares': 2, 'cpu_period': 100000}
CONFIG = """nodeName: test-node
listen: {{metrics: "127.0.0.1:0", socket: "{folder}/agent.sock"}}
store: {{path: ""}}
state: {{source: file, file: {{pods: "{folder}/pods.yaml"}}}}
log: {{level: debug}}
predict: {{directory: ""}}
featureGates: {{{gates}}}
plugins:
  childProgram: "{build}/core/plugin_host/koord-plugin-host"
  ownDirectories: ["{build}/plugins/hook-batch-resource", "{folder}/own"]
  directories: ["{folder}/third"]
  settings: {settings}
qos: {{mode: {mode}, directory: "{folder}/qos"}}
hooks: {{nri: {{socket: "{socket}"}}, deadline: 1s}}
"""


class Agent:
    def __init__(self, mode='enforce', gates='BatchResource: true', settings='{}', pod_uid=''):
        self.folder = tempfile.TemporaryDirectory(prefix='koord-test-agent-')
        folder = pathlib.Path(self.folder.name)
        (folder / 'pods.yaml').write_text('kind: PodList\napiVersion: v1\nitems: []\n')
        (folder / 'own').mkdir()
        (folder / 'third').mkdir(mode=0o755)
        shutil.copy(build + '/test/e2e/plugins/careless_hook.so', folder / 'third')
        self.config, self.log_path = folder / 'config.yaml', folder / 'log'
        self.config.write_text(CONFIG.format(folder=folder, build=build, mode=mode, gates=gates, settings=settings,
                                             socket=runtime.nri_socket))
        self.process, self.environment = None, {'KOORD_SHARED_CGROUP_TREE': '1', 'POD_UID': pod_uid}
        self.start()

    def start(self):
        with open(self.log_path, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen([build + '/core/agentd/koordetector', '--config', self.config], stdout=log,
                                            stderr=log, env=os.environ | self.environment)

    def log(self):
        return self.log_path.read_text()

    def await_log(self, text, count=1):
        containerd.eventually(lambda: self.log().count(text) >= count or self.process.poll() is not None, text)
        if self.log().count(text) < count:
            raise AssertionError(f'the agent ended: {self.log()}')

    def await_connection(self, count=1):
        self.await_log('connected to containerd', count)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.stop()
        self.folder.cleanup()


def files_of_cgroup(parent, container):
    """The files that the hook's values are in, by what they are."""
    def find(name_on_v1, name_on_v2):
        for hierarchy in containerd.hierarchies():
            for name in (name_on_v1, name_on_v2):
                path = hierarchy / parent.lstrip('/') / container / name
                if path.exists():
                    return path
        raise AssertionError(f'no {name_on_v1} of {container}')
    return {'shares': find('cpu.shares', 'cpu.weight'), 'quota': find('cpu.cfs_quota_us', 'cpu.max'),
            'memory': find('memory.limit_in_bytes', 'memory.max')}


def is_v2(files):
    return files['quota'].name == 'cpu.max'


class NriAgentTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: runtime.cri.remove_pods())

    def agent(self, **options):
        agent = Agent(**options)
        self.addCleanup(agent.end)
        agent.await_connection()
        return agent

    def run_batch_pod(self, name, annotations=None, command=('sleep', '100000')):
        parent = f'{runtime.cgroup}/besteffort-{name}'
        pod = runtime.cri.run_pod(name, parent, RESOURCES if annotations is None else annotations, BATCH)
        container = runtime.cri.create_container(pod, 'main', OF_KUBELET, command=command)
        runtime.cri.start(container)
        return parent, container

    def values(self, parent, container):
        return {name: path.read_text().strip() for name, path in files_of_cgroup(parent, container).items()}

    def adjusted(self, files):
        if is_v2(files):
            return {'shares': str(1 + (512 - 2) * 9999 // 262142), 'quota': '80000 100000', 'memory': str(64 << 20)}
        return {'shares': '512', 'quota': '80000', 'memory': str(64 << 20)}

    def plain(self, files):
        if is_v2(files):
            return {'shares': '1', 'quota': 'max 100000', 'memory': 'max'}
        return {'shares': '2', 'quota': '-1', 'memory': '9223372036854771712'}

    def test_the_values_of_a_hook_are_in_the_cgroup_before_the_first_instruction_of_the_program(self):
        self.agent()
        show = 'for file in cpu.shares cpu.weight cpu.cfs_quota_us cpu.max memory.limit_in_bytes memory.max; do ' \
               'find /sys/fs/cgroup -name $file -maxdepth 3 2>/dev/null; done; exec sleep 100000'
        parent, container = self.run_batch_pod('first', command=('sh', '-c', show))
        files = files_of_cgroup(parent, container)
        self.assertEqual(self.values(parent, container), self.adjusted(files))

    def test_in_shadow_a_container_is_as_in_its_spec(self):
        self.agent(mode='shadow')
        parent, container = self.run_batch_pod('shadow')
        self.assertEqual(self.values(parent, container), self.plain(files_of_cgroup(parent, container)))

    def test_a_pod_with_hands_off_is_not_adjusted(self):
        self.agent()
        parent, container = self.run_batch_pod('bypassed', RESOURCES | {'koordetector.sh/hands-off': 'true'})
        self.assertEqual(self.values(parent, container), self.plain(files_of_cgroup(parent, container)))
        excluded = RESOURCES | {'koordetector.sh/hands-off': 'memory.max'}
        parent, container = self.run_batch_pod('excluded', excluded)
        files = files_of_cgroup(parent, container)
        self.assertEqual(self.values(parent, container),
                         self.adjusted(files) | {'memory': self.plain(files)['memory']})

    def test_at_the_end_of_the_agent_containers_have_the_values_that_the_kubelet_had_asked_for(self):
        agent = self.agent()
        parent, container = self.run_batch_pod('ending')
        files = files_of_cgroup(parent, container)
        agent.await_log('are kept')
        agent.stop()
        self.assertEqual(self.values(parent, container), self.plain(files))

    def test_after_a_kill_of_the_agent_the_next_one_reverts_what_nobody_proposes(self):
        agent = self.agent()
        parent, container = self.run_batch_pod('orphan')
        files = files_of_cgroup(parent, container)
        agent.await_log('are kept')
        agent.kill()
        self.assertEqual(self.values(parent, container), self.adjusted(files))
        agent.config.write_text(agent.config.read_text().replace('BatchResource: true', 'BatchResource: false'))
        agent.start()
        containerd.eventually(lambda: self.values(parent, container) == self.plain(files), 'the values are reverted')

    def test_fault_12_after_a_kill_of_containerd_there_is_one_connection_and_new_containers_are_adjusted(self):
        agent = self.agent()
        first = self.run_batch_pod('before')
        runtime.kill()
        agent.await_log('has ended', 1)
        runtime.start()
        agent.await_connection(2)
        second = self.run_batch_pod('after')
        for place in (first, second):
            self.assertEqual(self.values(*place), self.adjusted(files_of_cgroup(*place)))
        self.assertEqual(agent.log().count('connected to containerd'), 2)

    def careless_pod(self, name, order):
        """Runs a container of which the careless hook is asked, and returns its place and the seconds that CreateContainer took."""
        parent = f'{runtime.cgroup}/besteffort-{name}'
        annotations = RESOURCES | ({'koordetector.sh/test-hook': order} if order else {})
        pod = runtime.cri.run_pod(name, parent, annotations, BATCH)
        begin = time.monotonic()
        container = runtime.cri.create_container(pod, 'main', OF_KUBELET)
        seconds = time.monotonic() - begin
        runtime.cri.start(container)
        return (parent, container), seconds

    def environment_of(self, container):
        return pathlib.Path(f'/proc/{runtime.cri.pid(container)}/environ').read_bytes().split(b'\0')

    def test_fault_14_a_hook_that_sleeps_crashes_or_answers_garbage_costs_its_own_fields_only_and_is_named(self):
        agent = self.agent(gates='BatchResource: true, Careless: true')
        place, _ = self.careless_pod('good', '')
        self.assertIn(b'FROM_CARELESS=1', self.environment_of(place[1]))
        for order, named in (('sleep', 'did not answer within'), ('crash', 'process ended by signal 11'), ('garbage', '')):
            with self.subTest(order):
                agent.await_log('careless-hook is running', agent.log().count('careless-hook is running'))
                place, seconds = self.careless_pod(order, order)
                self.assertEqual(self.values(*place), self.adjusted(files_of_cgroup(*place)))
                self.assertLess(seconds, 4)  # not the 5 s that it sleeps
                if named:
                    self.assertNotIn(b'FROM_CARELESS=1', self.environment_of(place[1]))
                    agent.await_log(f'careless-hook gave no answer for container main of koord-test/{order}')

    def test_with_on_timeout_fail_a_hook_that_sleeps_refuses_the_container_in_its_name(self):
        self.agent(gates='Careless: true', settings='{careless-hook: {onTimeout: fail}}')
        with self.assertRaisesRegex(Exception, 'careless-hook: did not answer within'):
            self.careless_pod('refused', 'sleep')

    def test_a_rejection_reaches_the_kubelet_with_the_name_of_the_hook_but_not_in_shadow(self):
        self.agent(gates='Careless: true')
        with self.assertRaisesRegex(Exception, 'careless-hook: no device is free'):
            self.careless_pod('rejected', 'reject')
        runtime.cri.remove_pods()
        self.doCleanups()
        self.addCleanup(lambda: runtime.cri.remove_pods())
        self.agent(gates='Careless: true', mode='shadow')
        self.careless_pod('tolerated', 'reject')

    def test_fault_15_the_agents_own_pod_starts_while_the_hooks_are_broken(self):
        self.agent(gates='Careless: true', settings='{careless-hook: {onTimeout: fail}}', pod_uid='uid-of-own')
        place, _ = self.careless_pod('own', 'sleep')
        self.assertNotIn(b'FROM_CARELESS=1', self.environment_of(place[1]))


def run_again_on_unpacked_python():
    """Runs this file on the unpacked Python, which has the modules of the CRI client."""
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
    build = sys.argv[2]
    # Short: a path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder, \
            containerd.Containerd(pathlib.Path(os.environ[UNPACKED]), folder) as runtime:
        unittest.main(argv=sys.argv[:1])
