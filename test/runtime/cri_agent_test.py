# SPDX-License-Identifier: Apache-2.0
"""Pods and containers of a real containerd through koord-cri-proxy, with the hooks of a real agent."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import grpc

import containerd
import cri_case
from agent import BATCH, OF_KUBELET, RESOURCES

# The test program sets this.
build = None

CONFIG = """nodeName: test-node
roots: {{cgroup: "{folder}/cgroup"}}
listen: {{metrics: "127.0.0.1:0", socket: "{socket}"}}
store: {{path: ""}}
state: {{source: file, file: {{pods: "{folder}/pods.yaml", node: "{folder}/node.yaml", nodeSLO: "{folder}/slo.yaml"}}}}
log: {{level: debug}}
predict: {{directory: ""}}
featureGates: {{BatchResource: true, Careless: true}}
plugins:
  childProgram: "{build}/core/plugin_host/koord-plugin-host"
  ownDirectories: [{own}]
  directories: ["{folder}/third"]
qos: {{mode: {mode}, directory: "{folder}/qos"}}
hooks: {{nri: {{socket: ""}}, deadline: 1s}}
"""
NODE = """kind: Node
metadata: {name: test-node}
status: {capacity: {cpu: 2, memory: 8Gi}, allocatable: {cpu: 2, memory: 8Gi}}
"""
NO_SLO = 'kind: NodeSLO\nmetadata: {name: test-node}\nspec: {}\n'
# With this NodeSLO best-effort pods get the minimal quota, 2 ms.
SUPPRESS = NO_SLO.replace('{}', '{resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 0, '
                          'cpuSuppressPolicy: cfsQuota}}')
SUPPRESSION = ('advisor-node-resource', 'advisor-pod-resource', 'qos-cpu-suppress')
NO_PODS = 'kind: PodList\napiVersion: v1\nitems: []\n'
POD = """- metadata: {{uid: uid-of-{name}, name: {name}, namespace: koord-test, labels: {{koordinator.sh/qosClass: BE}}}}
  spec: {{containers: [{{name: main, resources: {{requests: {{kubernetes.io/batch-cpu: 500, kubernetes.io/batch-memory: 64Mi}},
    limits: {{kubernetes.io/batch-cpu: 800, kubernetes.io/batch-memory: 64Mi}}}}}}]}}
  status: {{phase: Running, qosClass: BestEffort{status}}}
"""
CONTAINER = ', containerStatuses: [{{name: main, containerID: "containerd://{}", state: {{running: {{}}}}}}]'


def pod_list(**containers):
    """Returns a list of pods by name, each with the id of its container; None: the container does not exist yet."""
    return 'kind: PodList\nitems:\n' + ''.join(
        POD.format(name=name, status=CONTAINER.format(container) if container else '') for name, container in containers.items())


class Agent:
    """Runs an agent that listens at `socket`. It sees only the cgroups of the test's runtime, as if they were a whole node."""

    def __init__(self, socket, mode='enforce', plugins=(), slo=NO_SLO):
        self.temporary = tempfile.TemporaryDirectory(prefix='koord-test-agent-')
        self.folder, self.socket = pathlib.Path(self.temporary.name), socket
        (self.folder / 'third').mkdir(mode=0o755)
        shutil.copy(build + '/test/e2e/plugins/careless_hook.so', self.folder / 'third')
        self.pods = self.folder / 'pods.yaml'
        self.pods.write_text(NO_PODS)
        (self.folder / 'node.yaml').write_text(NODE)
        (self.folder / 'slo.yaml').write_text(slo)
        self.show_cgroups()
        config = self.folder / 'config.yaml'
        own = ', '.join(f'"{build}/plugins/{plugin}"' for plugin in ('hook-batch-resource', *plugins))
        config.write_text(CONFIG.format(folder=self.folder, socket=socket, build=build, mode=mode, own=own))
        with open(self.folder / 'log', 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen([build + '/core/agentd/koordetector', '--config', config], stdout=log, stderr=log,
                                            env=os.environ | {'KOORD_SHARED_CGROUP_TREE': '1'})
        self.await_log('careless-hook is running')
        self.await_log('hook-batch-resource is running')

    def show_cgroups(self):
        top = cri_case.runtime.cgroup.lstrip('/')
        seen = self.folder / 'cgroup'
        if pathlib.Path('/sys/fs/cgroup/cgroup.controllers').exists():
            seen.symlink_to(f'/sys/fs/cgroup/{top}')
            return
        seen.mkdir()
        for controller in ('cpu', 'cpuacct', 'cpuset', 'memory', 'blkio'):
            if pathlib.Path(f'/sys/fs/cgroup/{controller}').exists():
                (seen / controller).symlink_to(f'/sys/fs/cgroup/{controller}/{top}')

    def show(self, pods):
        fresh = self.folder / 'pods.new'
        fresh.write_text(pods)
        fresh.rename(self.pods)

    def log(self):
        return (self.folder / 'log').read_text()

    def await_log(self, text):
        containerd.eventually(lambda: text in self.log() or self.process.poll() is not None, text)
        if text not in self.log():
            raise AssertionError('the agent ended: ' + self.log())

    def ctl(self, *arguments):
        return subprocess.run([build + '/core/ctl/koordctl', *arguments, '--socket', self.socket], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def end(self):
        self.stop()
        self.temporary.cleanup()


class HooksOfTheRealAgent(cri_case.ProxyCase):
    def setUp(self):
        # The agent needs the cgroup of pods, which the first pod creates.
        super().setUp()
        self.cri.run_pod('first', f'{cri_case.runtime.cgroup}/kubepods/besteffort/podfirst', {})

    def real_agent(self, **options):
        agent = Agent(self.proxy.agent, **options)
        self.addCleanup(agent.end)
        return agent

    def run_batch(self, name, annotations=None):
        parent = f'{cri_case.runtime.cgroup}/kubepods/besteffort/poduid-of-{name}'
        pod = self.cri.run_pod(name, parent, RESOURCES | (annotations or {}), BATCH)
        return parent, self.run_container(pod, resources=OF_KUBELET)

    def values(self, parent, container):
        cgroup = f'{parent}/{container}'
        quota = containerd.file_of(cgroup, 'cpu.cfs_quota_us', 'cpu.max').read_text().split()[0]
        memory = containerd.file_of(cgroup, 'memory.limit_in_bytes', 'memory.max').read_text().strip()
        return cri_case.shares_of(parent, container), quota, memory

    def assert_adjusted(self, place):
        shares, quota, memory = self.values(*place)
        self.assertLess(abs(shares - 512), 30)  # a v2 weight has fewer steps
        self.assertEqual((quota, memory), ('80000', str(64 << 20)))

    def assert_plain(self, place):
        shares, quota, memory = self.values(*place)
        self.assertEqual(shares, 2)
        self.assertIn(quota, ('-1', 'max'))
        self.assertNotEqual(memory, str(64 << 20))

    def test_a_container_gets_the_values_of_the_agents_hooks_and_koordctl_explains_them(self):
        agent = self.real_agent()
        place = self.run_batch('batch')
        self.assert_adjusted(place)
        self.assertIn(b'FROM_CARELESS=1', cri_case.environment_of(place[1]))
        containerd.eventually(lambda: 'env:FROM_CARELESS' in agent.ctl('decisions', '--kind', 'hook'), 'it is recorded')
        why = agent.ctl('why', 'koord-test/batch')
        self.assertRegex(why, r'hook-batch-resource +PreCreateContainer +main +linux\.cpu\.quota +- +80000 +80000 +enforce +applied')
        hooks = agent.ctl('hooks')
        self.assertRegex(hooks, r'koord-cri-proxy: 2 questions, .* 2 changed, 0 unchanged, 0 rejected, 0 invalid')
        self.assertRegex(hooks, r'hook-batch-resource +PreCreateContainer +enforce +1 +0 +0 +0')

    def test_in_shadow_a_container_is_as_in_its_spec_and_the_answer_is_recorded(self):
        agent = self.real_agent(mode='shadow')
        place = self.run_batch('shadow')
        self.assert_plain(place)
        self.assertNotIn(b'FROM_CARELESS=1', cri_case.environment_of(place[1]))
        containerd.eventually(lambda: '80000' in agent.ctl('decisions', '--kind', 'hook', '--outcome', 'shadow'), 'it is recorded')

    def test_a_rejection_reaches_the_kubelet_with_the_name_of_the_hook(self):
        self.real_agent()
        with self.assertRaises(grpc.RpcError) as raised:
            self.run_batch('rejected', {'koordetector.sh/test-hook': 'reject'})
        self.assertEqual(raised.exception.details(), 'careless-hook: no device is free')

    def test_at_the_end_of_the_agent_a_container_has_the_values_that_the_kubelet_had_asked_for(self):
        agent = self.real_agent()
        place = self.run_batch('ending')
        self.assert_adjusted(place)
        agent.show(pod_list(ending=place[1]))
        agent.await_log('are kept')
        self.assert_adjusted(place)
        agent.stop()
        self.assert_plain(place)

    def test_a_container_that_is_made_while_a_strategy_caps_its_class_has_the_cap_and_koordctl_shows_base_and_cap(self):
        _, before = self.run_batch('before')  # the strategy needs the usage of at least one pod
        agent = self.real_agent(plugins=SUPPRESSION, slo=SUPPRESS)
        agent.show(pod_list(before=before, capped=None))
        of_class = containerd.file_of(f'{cri_case.runtime.cgroup}/kubepods/besteffort', 'cpu.cfs_quota_us', 'cpu.max')
        containerd.eventually(lambda: of_class.read_text().split()[0] == '2000', f'the class has its cap: {agent.log()}')
        place = self.run_batch('capped')
        self.assertEqual(self.values(*place)[1], '2000')
        agent.show(pod_list(before=before, capped=place[1]))
        agent.await_log('are kept')
        parts = r'capped/main .* 2000 100000 .* base 80000 \(hook-batch-resource\), cap 2000 \(qos-cpu-suppress on kubepods/besteffort\)'
        containerd.eventually(lambda: re.search(parts, agent.ctl('why', 'koord-test/capped')), 'the parts are shown')
        self.assertRegex(agent.ctl('why', 'koord-test/capped'),
                         r'hook-batch-resource +PreCreateContainer +main +linux\.cpu\.quota +- +80000 +2000 +enforce +applied')
        self.assertEqual(self.values(*place)[1], '2000')
        agent.stop()
        self.assert_plain(place)
        self.assertIn(of_class.read_text().split()[0], ('-1', 'max'))
