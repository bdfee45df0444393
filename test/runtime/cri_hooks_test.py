# SPDX-License-Identifier: Apache-2.0
"""Pods and containers of a real containerd through koord-cri-proxy, with hooks of an agent and of hook servers."""
import json
import threading
import time

import grpc

import containerd
import cri
import cri_case
import cri_proxy
import protobuf


class PassingToContainerd(cri_case.ProxyCase):
    def test_answers_are_byte_identical_to_the_runtimes(self):
        pod, _ = self.run_pod('same')
        container = self.run_container(pod)
        named = protobuf.encode(cri.MESSAGES, 'StartContainerRequest', {'container_id': container})
        absent = protobuf.encode(cri.MESSAGES, 'StartContainerRequest', {'container_id': 'absent'})
        busybox, no_image = b'\n\x15\n\x13localhost/busybox:1', b'\n\x14\n\x12localhost/absent:1'
        with cri_proxy.channel_to(cri_case.runtime.socket) as direct:
            for method, request in (('Version', b''), ('Status', b''), ('ListImages', b''), ('ImageStatus', busybox),
                                    ('ListPodSandbox', b''), ('ListContainers', b''), ('ContainerStatus', named),
                                    ('ContainerStatus', absent), ('StartContainer', absent), ('RuntimeConfig', b''),
                                    ('ReopenContainerLog', absent), ('PullImage', busybox), ('RemoveImage', no_image),
                                    ('NotYetInvented', b'x')):
                # The order of images is random.
                form = sorted if method == 'ListImages' else lambda answer: answer
                with self.subTest(method):
                    self.assertEqual(form(self.raw(self.cri.channel, method, request)),
                                     form(self.raw(direct, method, request)))

    def test_a_pod_runs_with_exec_logs_and_stats_as_without_a_proxy(self):
        pod, parent = self.run_pod('plain')
        container = self.cri.create_container(pod, 'main', {'cpu_shares': 512},
                                              command=['sh', '-c', 'echo written; exec sleep 100000'])
        self.cri.start(container)
        self.assertEqual(cri_case.shares_of(parent, container), 512)
        self.assertEqual(self.cri.exec(container, 'sh', '-c', 'echo $FROM_SPEC; exit 3'), ('1\n', 3))
        log = self.cri.logs / 'plain' / 'main.log'
        containerd.eventually(lambda: log.exists() and 'stdout F written' in log.read_text(), 'the log has the line')
        self.assertEqual([each['attributes']['id'] for each in self.cri.call('ListContainerStats')['stats']], [container])
        self.cri.call('StopContainer', container_id=container)
        self.cri.call('RemoveContainer', container_id=container)
        self.assertEqual(self.cri.call('ListContainers'), {})

    def test_the_event_stream_passes(self):
        events = self.cri.channel.unary_stream('/runtime.v1.RuntimeService/GetContainerEvents')(b'', timeout=60)
        pod, _ = self.run_pod('events')
        container = self.run_container(pod)
        seen = []
        for event in events:
            event = protobuf.decode(cri.MESSAGES, 'ContainerEvent', event)
            seen.append((event['container_id'], event.get('type', 0)))
            if seen[-1] == (container, 1):
                break
        self.assertIn((container, 0), seen)
        events.cancel()

    def test_a_restart_of_the_runtime_is_survived(self):
        pod, _ = self.run_pod('survivor')
        cri_case.runtime.kill()
        code, _ = self.raw(self.cri.channel, 'Version')
        self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)
        with self.assertRaises(OSError):  # 503
            self.proxy.get('/healthz')
        cri_case.runtime.start()
        containerd.eventually(lambda: isinstance(self.raw(self.cri.channel, 'Version'), bytes), 'the runtime answers')
        self.assertEqual(self.proxy.get('/healthz').strip(), 'ok')
        self.run_container(pod)


class HooksOfTheAgent(cri_case.ProxyCase):
    def test_a_container_gets_what_the_agent_answers(self):
        def answer(stage, _):
            return {'fields': {'linux.cpu.shares': '345', 'env:FROM_HOOK': 'yes', 'env:FROM_SPEC': '2',
                               'annotation:koord.test/seen': 'a', 'linux.cpu.bvt_warp_ns': '2'}} \
                if stage == 'PreCreateContainer' else {}
        agent = self.agent(answer)
        pod, parent = self.run_pod('hooked', {'koord.test/in': 'x'})
        container = self.run_container(pod)
        self.assertEqual(cri_case.shares_of(parent, container), 345)
        self.assertEqual([line for line in cri_case.environment_of(container) if line.startswith(b'FROM')],
                         [b'FROM_SPEC=2', b'FROM_HOOK=yes'])
        status = self.cri.call('ContainerStatus', container_id=container)['status']
        self.assertEqual(status['annotations'], {'koord.test/seen': 'a'})
        pod_question, container_question = agent.questions
        self.assertEqual(pod_question['pod']['annotations'], {'koord.test/in': 'x'})
        self.assertEqual(container_question['pod'] | {'labels': None}, {
            'name': 'hooked', 'namespace': 'koord-test', 'uid': 'uid-of-hooked', 'sandboxId': pod, 'runtimeHandler': '',
            'cgroupParent': parent, 'labels': None, 'annotations': {'koord.test/in': 'x'}})
        self.assertEqual(container_question['container'], {
            'name': 'main', 'id': '', 'annotations': {}, 'env': [{'name': 'FROM_SPEC'}],
            'resources': {'linux.cpu.shares': '512'}})

    def test_an_update_of_the_kubelet_is_merged_with_what_is_known(self):
        agent = self.agent(lambda stage, _: {'fields': {'linux.cpu.shares': '777'}} if 'Update' in stage else {})
        pod, parent = self.run_pod('updated')
        container = self.run_container(pod)
        self.cri.update(container, {'cpu_quota': 50000, 'cpu_period': 100000})
        self.assertEqual(cri_case.shares_of(parent, container), 777)
        self.assertEqual(agent.questions[-1]['container']['resources'],
                         {'linux.cpu.period': '100000', 'linux.cpu.quota': '50000', 'linux.cpu.shares': '512'})

    def test_a_rejection_refuses_the_container_with_its_text(self):
        self.agent(lambda stage, _: {'rejection': 'hook-gpu: no device is free'} if 'Create' in stage else {})
        pod, _ = self.run_pod('refused')
        with self.assertRaises(grpc.RpcError) as raised:
            self.run_container(pod)
        self.assertEqual(raised.exception.details(), 'hook-gpu: no device is free')
        self.assertEqual(cri_case.runtime.cri.call('ListContainers'), {})

    def test_a_question_that_is_too_large_passes_without_hooks_is_counted_and_names_its_pod(self):
        agent = self.agent(lambda *_: {'fields': {'linux.cpu.shares': '777'}})
        pod, parent = self.run_pod('large', {'example.org/unused': 'x' * (3 << 20)})
        container = self.run_container(pod)
        self.assertEqual(cri_case.shares_of(parent, container), 512)
        self.assertEqual(agent.questions, [])
        self.assertEqual(self.proxy.metric('koord_cri_proxy_passed_unhooked_total{reason="too_large"}'), 2)
        self.assertIn('container main of koord-test/large: the question at PreCreateContainer has', self.proxy.log())
        self.assertEqual(self.proxy.metric('koord_cri_proxy_hook_requests_total{source="agent",result="failed"}'), 0)

    def test_calls_pass_unchanged_if_the_agent_is_absent_late_or_answers_nonsense(self):
        ended = threading.Event()
        self.addCleanup(ended.set)
        for name, answer in (('absent', None), ('late', lambda *_: ended.wait(cri_proxy.LIMIT) and {}),
                             ('nonsense', lambda *_: ['x']), ('wrong', lambda *_: {'fields': {'linux.cpu.shares': 'many'}}),
                             ('typed', lambda *_: {'fields': {'env:A': 5}})):
            agent = answer and cri_proxy.Agent(self.proxy.agent, answer)
            pod, parent = self.run_pod(name)
            self.assertEqual(cri_case.shares_of(parent, self.run_container(pod)), 512, name)
            if agent:
                agent.close()
        self.assertEqual(self.proxy.metric('koord_cri_proxy_hook_requests_total{source="agent",result="failed"}'), 10)
        self.assertIn('does not answer', self.proxy.log())

    def test_a_pod_with_the_skip_label_has_no_hooks(self):
        agent = self.agent(lambda *_: {'rejection': 'never'})
        parent = f'{cri_case.runtime.cgroup}/pod-skipped'
        pod = self.cri.run_pod('skipped', parent, {}, {'runtimeproxy.koordinator.sh/skip-hookserver': 'true'})
        self.run_container(pod)
        self.assertEqual(agent.questions, [])


class HookServers(cri_case.ProxyCase):
    def name_server(self, policy='Ignore', path=None, name='koordlet.json'):
        path = path or self.proxy.folder / 'hooks.sock'
        self.proxy.hook_servers.mkdir(exist_ok=True)
        (self.proxy.hook_servers / name).write_text(json.dumps(
            {'remote-endpoint': str(path), 'failure-policy': policy,
             'runtime-hooks': ['PreCreateContainer', 'PreUpdateContainerResources']}))
        return path

    def test_a_server_of_koordlets_kind_adjusts_a_container(self):
        requests = []

        def answer(method, request):
            requests.append((method, request))
            resources = request['container_resources'] | {'cpu_shares': 456, 'memory_limit': 128 << 20}
            return {'container_resources': resources, 'container_envs': request['container_envs'] | {'ADDED': '1'}}
        server = cri_proxy.hook_server(self.name_server(), answer)
        self.addCleanup(lambda: server.stop(None))
        pod, parent = self.run_pod('koordlet')
        container = self.run_container(pod)
        self.assertEqual(cri_case.shares_of(parent, container), 456)
        self.assertIn(b'ADDED=1', cri_case.environment_of(container))
        self.assertEqual(requests[0][0], 'PreCreateContainerHook')
        self.assertEqual(requests[0][1]['pod_cgroup_parent'], parent)

    def test_the_agent_is_preferred_to_a_hook_server(self):
        server = cri_proxy.hook_server(self.name_server(), lambda *_: {'container_resources': {'cpu_shares': 456}})
        self.addCleanup(lambda: server.stop(None))
        self.agent(lambda stage, _: {'fields': {'linux.cpu.shares': '222'}} if 'Create' in stage else {})
        pod, parent = self.run_pod('both')
        self.assertEqual(cri_case.shares_of(parent, self.run_container(pod)), 222)

    def test_a_server_that_does_not_answer_refuses_or_is_ignored_by_its_policy(self):
        self.name_server('Ignore', self.proxy.folder / 'absent.sock')
        pod, parent = self.run_pod('policy')
        self.assertEqual(cri_case.shares_of(parent, self.run_container(pod)), 512)
        self.name_server('Fail', self.proxy.folder / 'absent.sock')
        containerd.eventually(lambda: not self.starts(pod), 'the changed file is read, and the call fails')
        self.assertIn("hook server 'koordlet.json'", self.proxy.log())

    def starts(self, pod):
        try:
            self.run_container(pod, f'again-{time.monotonic_ns()}')
            return True
        except grpc.RpcError as error:
            self.assertIn('hook server koordlet.json', error.details())
            return False

    def test_a_file_that_is_no_hook_server_is_named_and_harms_no_other(self):
        self.name_server()
        (self.proxy.hook_servers / 'bad.json').write_text('{"remote-endpoint": 5}')
        server = cri_proxy.hook_server(self.name_server(), lambda *_: {'container_resources': {'cpu_shares': 456}})
        self.addCleanup(lambda: server.stop(None))
        pod, parent = self.run_pod('bad')
        self.assertEqual(cri_case.shares_of(parent, self.run_container(pod)), 456)
        self.assertIn("bad.json': remote-endpoint: ", self.proxy.log())
