# SPDX-License-Identifier: Apache-2.0
"""Base of tests in which a real containerd asks an agent through NRI."""
import time
import unittest

import containerd
from agent import BATCH, OF_KUBELET, RESOURCES, Agent

# The test program sets these.
runtime = None
build = None


def files_of_cgroup(parent, container):
    """Returns the files with the hook's values, by the kind of the value."""
    def find(name_on_v1, name_on_v2):
        return containerd.file_of(f'{parent}/{container}', name_on_v1, name_on_v2)
    return {'shares': find('cpu.shares', 'cpu.weight'), 'quota': find('cpu.cfs_quota_us', 'cpu.max'),
            'memory': find('memory.limit_in_bytes', 'memory.max')}


def is_v2(files):
    return files['quota'].name == 'cpu.max'


class AgentCase(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: runtime.cri.remove_pods())

    def agent(self, **options):
        agent = Agent(build, runtime.nri_socket, **options)
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

    def careless_pod(self, name, order, annotations=None):
        """Runs a container for which the careless hook is asked. Returns its place and the seconds of CreateContainer."""
        parent = f'{runtime.cgroup}/besteffort-{name}'
        annotations = RESOURCES | ({'koordetector.sh/test-hook': order} if order else {}) | (annotations or {})
        pod = runtime.cri.run_pod(name, parent, annotations, BATCH)
        begin = time.monotonic()
        container = runtime.cri.create_container(pod, 'main', OF_KUBELET)
        seconds = time.monotonic() - begin
        runtime.cri.start(container)
        return (parent, container), seconds

    def environment_of(self, container):
        return containerd.environment_of(runtime.cri.pid(container))
