# SPDX-License-Identifier: Apache-2.0
"""Base of tests with a koord-cri-proxy between a CRI client and a real containerd."""
import pathlib
import tempfile
import unittest

import grpc

import containerd
import cri
import cri_proxy

# The test program sets these.
runtime = None
program = None


def shares_of(parent, container):
    for hierarchy in containerd.hierarchies():
        path = hierarchy / f'{parent.lstrip("/")}/{container}/cpu.shares'
        if path.exists():
            return int(path.read_text())
    weight = int(pathlib.Path(f'/sys/fs/cgroup{parent}/{container}/cpu.weight').read_text())
    return round(2 + (weight - 1) * 262142 / 9999)


def environment_of(container):
    return containerd.environment_of(runtime.cri.pid(container))


class ProxyCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        self.addCleanup(self.folder.cleanup)
        self.proxy = cri_proxy.Proxy(program, self.folder.name, runtime.socket)
        self.addCleanup(self.proxy.stop)
        self.addCleanup(runtime.cri.remove_pods)
        self.proxy.start().wait()
        self.cri = cri.Cri(self.proxy.socket)
        self.cri.channel.close()
        self.cri.channel = cri_proxy.channel_to(self.proxy.socket)  # reconnects as fast as a kubelet does
        self.addCleanup(lambda: self.cri.channel.close())

    def run_pod(self, name, annotations=None):
        parent = f'{runtime.cgroup}/pod-{name}'
        return self.cri.run_pod(name, parent, annotations or {}), parent

    def run_container(self, pod, name='main', resources=None):
        container = self.cri.create_container(pod, name, resources or {'cpu_shares': 512})
        self.cri.start(container)
        return container

    def agent(self, answer):
        agent = cri_proxy.Agent(self.proxy.agent, answer)
        self.addCleanup(agent.close)
        return agent

    def raw(self, channel, method, request=b''):
        service = 'ImageService' if 'Image' in method else 'RuntimeService'
        try:
            return channel.unary_unary(f'/runtime.v1.{service}/{method}')(request, timeout=60)
        except grpc.RpcError as error:
            return error.code(), error.details()
