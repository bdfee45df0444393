# SPDX-License-Identifier: Apache-2.0
"""Hooks must give the same values if a real containerd asks for them at a creation, and if the agent sets them later."""
import json
import signal

import agent_case
import containerd
from agent import AMOUNTS, BATCH, HOOKS, OF_KUBELET, RESOURCES, Agent, pod_object

GATES = 'BatchResource: true, CPUSetAllocator: true, CPUNormalization: true, Careless: true'
CPUSET = {'scheduling.koordinator.sh/resource-status': json.dumps({'cpuset': '0'})}
GPU = {'scheduling.koordinator.sh/device-allocated': json.dumps({'gpu': [{'minor': 1}]})}
RIVAL = {'koordetector.sh/test-hook': 'rival'}
OF_A_LIMIT = {'cpu_shares': 512, 'cpu_quota': 50000, 'cpu_period': 100000, 'memory_limit_in_bytes': 128 << 20}
LIMITS = {'requests': {'cpu': '500m', 'memory': '128Mi'}, 'limits': {'cpu': '500m', 'memory': '128Mi'}}


class Kind:
    """A pod as the kubelet and the API server have it."""

    def __init__(self, name, qos_dir, kube_qos, labels, annotations, requested, resources):
        self.name, self.uid, self.kube_qos = name, 'uid-of-' + name, kube_qos
        self.labels, self.annotations, self.requested, self.resources = labels, annotations, requested, resources
        self.parent = f'{agent_case.runtime.cgroup}/kubepods{qos_dir}/pod{self.uid}'
        self.container = None

    def run(self, cri=None, **options):
        cri = cri or agent_case.runtime.cri
        pod = cri.run_pod(self.name, self.parent, self.annotations, self.labels)
        self.container = cri.create_container(pod, 'main', self.requested, **options)
        cri.start(self.container)

    def object(self):
        return pod_object(self.name, self.uid, self.container, self.labels, self.annotations, self.resources,
                          self.kube_qos)

    def knobs(self):
        """Returns each settable file of the container's cgroups."""
        files = {}
        for hierarchy in containerd.hierarchies():
            for path in sorted((hierarchy / self.parent.lstrip('/') / self.container).glob('*')):
                if path.is_file() and path.stat().st_mode & 0o200 and not is_counter(path.name):
                    try:
                        files[f'{hierarchy.name}/{path.name}'] = path.read_bytes()
                    except OSError:
                        continue  # a file that can only be written
        return files


def is_counter(name):
    """Returns whether a file is left out. This includes the limit of memory plus swap, which is not a knob: this runtime sets it
    to the memory limit."""
    return any(part in name for part in ('cgroup.procs', 'cgroup.threads', 'tasks', 'cpuacct.', 'failcnt', 'max_usage',
                                         '.peak', '.pressure', 'event', 'freezer.state', 'memsw'))


def batch(name, annotations=None):
    return Kind(name, '/besteffort', 'BestEffort', BATCH, RESOURCES | (annotations or {}), OF_KUBELET, AMOUNTS)


def kinds():
    return [batch('batch'), batch('rival', RIVAL),
            Kind('pinned', '', 'Guaranteed', {'koordinator.sh/qosClass': 'LSR'}, CPUSET, OF_A_LIMIT, LIMITS),
            Kind('normalized', '/burstable', 'Burstable', {'koordinator.sh/qosClass': 'LS'}, {}, OF_A_LIMIT, LIMITS)]


def differences(kinds_now, wanted):
    return [f'{kind.name} {name}: {kind.knobs().get(name)} is not {value}' for kind in kinds_now
            for name, value in wanted[kind.name].items() if kind.knobs().get(name) != value]


class ReconcileTest(agent_case.AgentCase):
    def agent_without_nri(self, **options):
        agent = Agent(agent_case.build, '', **options)
        self.addCleanup(agent.end)
        return agent

    def test_a_creation_and_a_reconcile_give_the_same_bytes_also_where_two_hooks_set_one_field(self):
        asking = self.agent(gates=GATES)
        asking.await_log('careless-hook is running')
        asked = kinds()
        asking.show([kind.object() for kind in asked])  # the pods are scheduled, but have no containers yet
        containerd.eventually(lambda: asking.metric('koordetector_plugin_hook_requests_total') > 0, 'the pods are known')
        for kind in asked:
            kind.run()
        created = {kind.name: kind.knobs() for kind in asked}
        self.assertEqual(differences(asked, {'rival': {
            name: value.replace(b'67108864', b'33554432') for name, value in created['batch'].items()}} | {
                name: values for name, values in created.items() if name != 'rival'}), [])
        asking.show([kind.object() for kind in asked])
        containerd.eventually(lambda: asking.metric('koordetector_host_active_intents') >= 8, 'the hooks propose')
        self.assertEqual(differences(asked, created), [])
        agent_case.runtime.cri.remove_pods()
        asking.stop()

        silent = self.agent_without_nri(gates=GATES)
        later = kinds()
        for kind in later:
            kind.run()
            self.assertNotEqual(kind.knobs(), created[kind.name])
        silent.show([kind.object() for kind in later])
        containerd.eventually(lambda: not differences(later, created), f'{differences(later, created)}')

    def test_with_all_hooks_off_each_file_is_as_the_runtime_was_asked(self):
        def switch_off(agent):
            for hook in HOOKS + ('careless-hook', ):
                agent.ctl('mode', hook, 'off', '--for', '1h')
        self.check_reverted_by(switch_off)

    def test_with_the_gates_of_all_hooks_off_each_file_is_as_the_runtime_was_asked(self):
        def switch_off(agent):
            agent.config.write_text(agent.config.read_text().replace(GATES, GATES.replace('true', 'false')))
            agent.process.send_signal(signal.SIGHUP)
        self.check_reverted_by(switch_off)

    def check_reverted_by(self, switch_off):
        without = kinds()
        for kind in without:
            kind.run()
        asked = {kind.name: kind.knobs() for kind in without}
        agent_case.runtime.cri.remove_pods()
        agent = self.agent(gates=GATES)
        agent.await_log('careless-hook is running')
        with_hooks = kinds()
        agent.show([kind.object() for kind in with_hooks])
        containerd.eventually(lambda: agent.metric('koordetector_plugin_hook_requests_total') > 0, 'the pods are known')
        for kind in with_hooks:
            kind.run()
            self.assertNotEqual(kind.knobs(), asked[kind.name], kind.name)
        agent.show([kind.object() for kind in with_hooks])
        containerd.eventually(lambda: agent.metric('koordetector_host_active_intents') >= 8, 'the hooks propose')
        switch_off(agent)
        containerd.eventually(lambda: not differences(with_hooks, asked), f'{differences(with_hooks, asked)}')

    def test_fields_that_only_a_creation_sets_are_reported_once_for_each_container_without_them(self):
        agent = self.agent_without_nri(gates='Careless: true')
        missed = 'pod koord-test/{}: container main runs without env:FROM_CARELESS, env:ANNOTATIONS of careless-hook'
        first, second = batch('first'), batch('second')
        first.run()
        agent.show([first.object()])
        agent.await_log(missed.format('first'))
        second.run()
        agent.show([first.object(), second.object()])
        agent.await_log(missed.format('second'))
        containerd.eventually(lambda: agent.metric('koordetector_host_hook_fields_missed') == 2, 'both are counted')
        self.assertEqual(agent.log().count(missed.format('first')), 1)
        agent.show([second.object()])
        containerd.eventually(lambda: agent.metric('koordetector_host_hook_fields_missed') == 1, 'one has ended')

    def test_without_nri_a_pod_with_a_gpu_misses_its_environment_and_is_reported(self):
        agent = self.agent_without_nri(gates='GPUEnvInject: true', hooks=HOOKS + ('hook-gpu',))
        gpu = Kind('gpu', '/burstable', 'Burstable', {}, GPU, OF_A_LIMIT, LIMITS)
        gpu.run()
        agent.show([gpu.object()])
        agent.await_log('pod koord-test/gpu: container main runs without env:NVIDIA_VISIBLE_DEVICES of hook-gpu')
        self.assertIn('container main runs without env:NVIDIA_VISIBLE_DEVICES', agent.ctl('events'))

    def test_a_hook_in_shadow_misses_nothing_until_it_is_enforced(self):
        agent = self.agent(gates='Careless: true', mode='shadow')
        pod = batch('later')
        pod.run()
        agent.show([pod.object()])
        containerd.eventually(lambda: agent.metric('koordetector_plugin_hook_requests_total') > 1, 'the hook was asked again')
        self.assertNotIn('container main runs without', agent.log())
        agent.config.write_text(agent.config.read_text().replace('mode: shadow', 'mode: enforce'))
        agent.process.send_signal(signal.SIGHUP)
        agent.await_log('container main runs without env:FROM_CARELESS')

    def test_a_container_that_got_its_fields_is_not_reported_by_the_next_agent_but_one_made_meanwhile_is(self):
        agent = self.agent(gates='Careless: true')
        agent.await_log('careless-hook is running')
        before, meanwhile = batch('before'), batch('meanwhile')
        before.run()
        self.assertIn(b'FROM_CARELESS=1', self.environment_of(before.container))
        agent.kill()
        meanwhile.run()
        agent.show([before.object(), meanwhile.object()])
        agent.start()
        agent.await_log('pod koord-test/meanwhile: container main runs without')
        self.assertNotIn('pod koord-test/before: container main runs without', agent.log())

    def test_an_agent_killed_between_creation_and_start_of_a_container_still_knows_the_kubelets_values(self):
        agent = self.agent()
        agent.await_log('hook-batch-resource is running')
        pod, cri = batch('window'), agent_case.runtime.cri
        sandbox = cri.run_pod(pod.name, pod.parent, pod.annotations, pod.labels)
        pod.container = cri.create_container(sandbox, 'main', OF_KUBELET)
        agent.kill()
        cri.start(pod.container)
        files = agent_case.files_of_cgroup(pod.parent, pod.container)
        self.assertEqual(self.values(pod.parent, pod.container), self.adjusted(files))
        agent.config.write_text(agent.config.read_text().replace('BatchResource: true', 'BatchResource: false'))
        agent.show([pod.object()])
        agent.start()
        containerd.eventually(lambda: self.values(pod.parent, pod.container) == self.plain(files), 'the values are reverted')
