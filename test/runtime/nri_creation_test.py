# SPDX-License-Identifier: Apache-2.0
"""Runtime hooks in real containers: values and rejections at a creation, through containerd's NRI."""
import itertools
import os

import agent_case
import containerd
from agent import HOOKS, RESOURCES
from nri_reconcile_test import CPUSET, GPU, LIMITS, OF_A_LIMIT, Kind
from nri_reconcile_test import batch as batch_kind


class CreationTest(agent_case.AgentCase):
    def test_the_first_instruction_of_a_program_finds_the_values_of_all_hooks(self):
        agent = self.agent(gates='BatchResource: true, CPUSetAllocator: true, GPUEnvInject: true', hooks=HOOKS + ('hook-gpu',))
        for hook in ('hook-batch-resource', 'hook-cpuset', 'hook-gpu'):
            agent.await_log(hook + ' is running')
        batch = self.printed(agent, batch_kind('batch'))
        if 'cpu.max' in batch:
            self.assertEqual((batch['cpu.max'], batch['memory.max']), ('80000 100000', str(64 << 20)))
        else:
            self.assertEqual([batch[name] for name in ('cpu.shares', 'cpu.cfs_quota_us', 'memory.limit_in_bytes')],
                             ['512', '80000', str(64 << 20)])
        lsr = {'koordinator.sh/qosClass': 'LSR'}
        pinned = self.printed(agent, Kind('pinned', '', 'Guaranteed', lsr, CPUSET, OF_A_LIMIT, LIMITS))
        self.assertEqual(pinned['Cpus_allowed_list:'], '0')
        self.assertIn(pinned.get('cpu.cfs_quota_us', pinned.get('cpu.max')), ('-1', 'max 100000'))
        gpu = self.printed(agent, Kind('gpu', '/burstable', 'Burstable', {}, GPU, OF_A_LIMIT, LIMITS))
        self.assertEqual(gpu['NVIDIA_VISIBLE_DEVICES'], '1')

    def printed(self, agent, kind):
        """Returns the first lines of a new container's output, by their first word."""
        show = 'for file in cpu.shares cpu.cfs_quota_us cpu.max memory.limit_in_bytes memory.max; do ' \
               'for path in /sys/fs/cgroup/$file /sys/fs/cgroup/*/$file; do [ -f $path ] && echo $file $(cat $path); done; done; ' \
               'grep Cpus_allowed_list /proc/self/status; echo NVIDIA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES; echo ready; ' \
               'exec sleep 100000'
        agent.show([kind.object()])  # the pod is scheduled, but has no container yet
        containerd.eventually(lambda: kind.name in agent.ctl('pods'), f'{kind.name} is known')
        kind.run(command=('sh', '-c', show))
        log = agent_case.runtime.cri.logs / kind.name / 'main.log'
        containerd.eventually(lambda: log.exists() and ' F ready' in log.read_text(), f'{kind.name} prints')
        lines = [line.split(' F ', 1)[1].split(None, 1) for line in log.read_text().splitlines() if ' stdout F ' in line]
        return {line[0]: line[1] for line in lines if len(line) == 2}

    def test_in_shadow_a_container_is_as_in_its_spec(self):
        self.agent(mode='shadow')
        parent, container = self.run_batch_pod('shadow')
        self.assertEqual(self.values(parent, container), self.plain(agent_case.files_of_cgroup(parent, container)))

    def test_koordctl_shows_the_connection_the_hooks_and_each_field_with_its_reason(self):
        agent = self.agent(gates='BatchResource: true, Careless: true', settings='{careless-hook: {mode: shadow}}')
        self.run_batch_pod('explained')
        containerd.eventually(lambda: 'FROM_CARELESS' in agent.ctl('decisions', '--kind', 'hook'), 'it is recorded')
        why = agent.ctl('why', 'koord-test/explained')
        self.assertRegex(why, r'hook-batch-resource +PreCreateContainer .* linux\.cpu\.shares +2 +512 +512 +enforce +applied')
        self.assertRegex(why, r'careless-hook +PreCreateContainer .* env:FROM_CARELESS +- +1 +- +shadow +shadow')
        self.assertIn('asked by=NRI', agent.ctl('decisions', '--plugin', 'hook-batch-resource', '--knob', 'linux.cpu.quota'))
        hooks = agent.ctl('hooks')
        self.assertRegex(hooks, r"NRI: active at '[^']*' since [-0-9 :]*, connections: 1\n  runtime: containerd 1\.7")
        self.assertRegex(hooks, r'CreateContainer +1 +0 +0 +0 +0 ')
        self.assertRegex(hooks, r'hook-batch-resource +PreCreateContainer +enforce +1 +0 +0 +0 ')
        self.assertEqual(agent.metric('koordetector_host_nri_connected'), 1)

    def test_a_pod_with_hands_off_is_not_adjusted(self):
        self.agent()
        parent, container = self.run_batch_pod('bypassed', RESOURCES | {'koordetector.sh/hands-off': 'true'})
        self.assertEqual(self.values(parent, container), self.plain(agent_case.files_of_cgroup(parent, container)))
        excluded = RESOURCES | {'koordetector.sh/hands-off': 'memory.max'}
        parent, container = self.run_batch_pod('excluded', excluded)
        files = agent_case.files_of_cgroup(parent, container)
        self.assertEqual(self.values(parent, container),
                         self.adjusted(files) | {'memory': self.plain(files)['memory']})

    def test_at_the_end_of_the_agent_containers_have_the_values_that_the_kubelet_had_asked_for(self):
        agent = self.agent()
        parent, container = self.run_batch_pod('ending')
        files = agent_case.files_of_cgroup(parent, container)
        agent.await_log('are kept')
        agent.stop()
        self.assertEqual(self.values(parent, container), self.plain(files))

    def test_after_a_kill_of_the_agent_the_next_one_reverts_knobs_that_are_not_proposed(self):
        agent = self.agent()
        parent, container = self.run_batch_pod('orphan')
        files = agent_case.files_of_cgroup(parent, container)
        agent.await_log('are kept')
        agent.kill()
        self.assertEqual(self.values(parent, container), self.adjusted(files))
        agent.config.write_text(agent.config.read_text().replace('BatchResource: true', 'BatchResource: false'))
        agent.start()
        containerd.eventually(lambda: self.values(parent, container) == self.plain(files), 'the values are reverted')

    def test_fault_12_after_a_kill_of_containerd_there_is_one_connection_and_new_containers_are_adjusted(self):
        agent = self.agent()
        first = self.run_batch_pod('before')
        agent_case.runtime.kill()
        agent.await_log('has ended', 1)
        agent_case.runtime.start()
        agent.await_connection(2)
        second = self.run_batch_pod('after')
        for place in (first, second):
            self.assertEqual(self.values(*place), self.adjusted(agent_case.files_of_cgroup(*place)))
        self.assertEqual(agent.log().count('connected to containerd'), 2)

    def test_fault_13_after_a_synchronize_with_large_annotations_new_containers_are_adjusted(self):
        """Tests many pods in one message. Above 16 MiB, which is 62 of these pods, this containerd does not even list them
        through CRI."""
        agent = self.agent()
        pods = int(os.environ.get('KOORD_SYNC_PODS', '12'))
        for number in range(pods):
            agent_case.runtime.cri.run_pod(f'large-{number}', f'{agent_case.runtime.cgroup}/besteffort-large-{number}',
                                           {'example.org/unused': 'x' * (256 << 10)})
        agent_case.runtime.kill()
        agent.await_log('has ended', 1)
        agent_case.runtime.start()
        agent.await_connection(2)
        place = self.run_batch_pod('after')
        self.assertEqual(self.values(*place), self.adjusted(agent_case.files_of_cgroup(*place)))
        self.assertEqual(agent.log().count('connected to containerd'), 2)

    def test_fault_14_a_hook_that_sleeps_crashes_or_answers_garbage_costs_its_own_fields_only_and_is_named(self):
        agent = self.agent(gates='BatchResource: true, Careless: true')
        self.await_answer('before')
        for order, named in (('sleep', 'did not answer within'), ('crash', 'process ended by signal 11'),
                             ('garbage', 'careless-hook: a field of its answer is refused: ')):
            with self.subTest(order):
                place, seconds = self.careless_pod(order, order)
                self.assertEqual(self.values(*place), self.adjusted(agent_case.files_of_cgroup(*place)))
                self.assertLess(seconds, 4)  # less than the 5 s for which the hook sleeps
                agent.await_log(named)
                answers = order == 'garbage'  # its valid fields are used
                self.assertEqual(b'FROM_CARELESS=1' in self.environment_of(place[1]), answers)
                if not answers:
                    agent.await_log(f'careless-hook gave no answer for container main of koord-test/{order}')
                self.await_answer('after-' + order)

    def await_answer(self, name):
        """Runs pods until the careless hook answers. It may have been killed or have crashed, and is restarted."""
        attempts = itertools.count()

        def answers():
            pod = f'{name}-{next(attempts)}'
            place, _ = self.careless_pod(pod, '')
            answered = b'FROM_CARELESS=1' in self.environment_of(place[1])
            agent_case.runtime.cri.remove_pod(pod)
            return answered
        containerd.eventually(answers, f'{name}: the hook answers')

    def test_a_late_hook_delays_a_creation_until_its_deadline_and_its_knobs_are_set_afterwards(self):
        agent = self.agent(gates='BatchResource: true, Careless: true')
        self.await_answer('before')
        pod = batch_kind('late', {'koordetector.sh/test-hook': 'late'})
        pod.run()
        files = agent_case.files_of_cgroup(pod.parent, pod.container)
        self.assertEqual(self.values(pod.parent, pod.container), self.adjusted(files))
        self.assertNotIn(b'FROM_CARELESS=1', self.environment_of(pod.container))
        agent.await_log('careless-hook gave no answer for container main of koord-test/late: did not answer within')
        agent.show([pod.object()])
        repaired = self.adjusted(files) | {'memory': str(32 << 20)}
        containerd.eventually(lambda: self.values(pod.parent, pod.container) == repaired, 'the limit of the late hook is set')
        agent.await_log('container main runs without env:FROM_CARELESS, env:ANNOTATIONS of careless-hook')

    def test_a_third_partys_hook_gets_the_annotations_that_its_manifest_declares_and_no_others(self):
        self.agent(gates='Careless: true')
        place, _ = self.careless_pod('annotated', '', {'example.org/declared': 'yes', 'example.org/undeclared': 'no'})
        self.assertIn(b'ANNOTATIONS=example.org/declared=yes;', self.environment_of(place[1]))

    def test_with_on_timeout_fail_a_hook_that_sleeps_refuses_the_container_in_its_name(self):
        self.agent(gates='Careless: true', settings='{careless-hook: {onTimeout: fail}}')
        with self.assertRaisesRegex(Exception, 'careless-hook: did not answer within'):
            self.careless_pod('refused', 'sleep')

    def test_a_rejection_reaches_the_kubelet_with_the_name_of_the_hook_but_not_in_shadow(self):
        self.agent(gates='Careless: true')
        with self.assertRaisesRegex(Exception, 'careless-hook: no device is free'):
            self.careless_pod('rejected', 'reject')
        agent_case.runtime.cri.remove_pods()
        self.doCleanups()
        self.addCleanup(lambda: agent_case.runtime.cri.remove_pods())
        self.agent(gates='Careless: true', mode='shadow')
        self.careless_pod('tolerated', 'reject')

    def test_fault_15_the_agents_own_pod_starts_while_the_hooks_are_broken(self):
        self.agent(gates='Careless: true', settings='{careless-hook: {onTimeout: fail}}', pod_uid='uid-of-own')
        place, _ = self.careless_pod('own', 'sleep')
        self.assertNotIn(b'FROM_CARELESS=1', self.environment_of(place[1]))
