#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""koord-cri-proxy between a CRI client and a real containerd 1.7.

usage: cri_proxy_test.py FOLDER PROGRAM

FOLDER keeps the packages, PROGRAM is koord-cri-proxy. Ends with 77, which is meson's "skipped", where containerd is
unavailable, and prints the reason.
"""
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
import packages  # noqa: E402

UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages


def shares_of(parent, container):
    for hierarchy in containerd.hierarchies():
        path = hierarchy / f'{parent.lstrip("/")}/{container}/cpu.shares'
        if path.exists():
            return int(path.read_text())
    weight = int(pathlib.Path(f'/sys/fs/cgroup{parent}/{container}/cpu.weight').read_text())
    return round(2 + (weight - 1) * 262142 / 9999)


def environment_of(container):
    return pathlib.Path(f'/proc/{runtime.cri.pid(container)}/environ').read_bytes().split(b'\0')


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
        self.cri.channel = cri_proxy.channel_to(self.proxy.socket)  # connects again as soon as a kubelet does
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


class PassingToContainerd(ProxyCase):
    def test_answers_are_byte_identical_to_the_runtimes(self):
        pod, _ = self.run_pod('same')
        container = self.run_container(pod)
        named = protobuf.encode(cri.MESSAGES, 'StartContainerRequest', {'container_id': container})
        absent = protobuf.encode(cri.MESSAGES, 'StartContainerRequest', {'container_id': 'absent'})
        busybox = b'\n\x15\n\x13localhost/busybox:1'
        with cri_proxy.channel_to(runtime.socket) as direct:
            for method, request in (('Version', b''), ('Status', b''), ('ListImages', b''), ('ImageStatus', busybox),
                                    ('ListPodSandbox', b''), ('ListContainers', b''), ('ContainerStatus', named),
                                    ('ContainerStatus', absent), ('StartContainer', absent), ('RuntimeConfig', b''),
                                    ('ReopenContainerLog', absent), ('PullImage', busybox), ('NotYetInvented', b'x')):
                with self.subTest(method):
                    self.assertEqual(self.raw(self.cri.channel, method, request), self.raw(direct, method, request))

    def test_a_pod_runs_with_exec_logs_and_stats_as_without_a_proxy(self):
        pod, parent = self.run_pod('plain')
        container = self.cri.create_container(pod, 'main', {'cpu_shares': 512},
                                              command=['sh', '-c', 'echo said; exec sleep 100000'])
        self.cri.start(container)
        self.assertEqual(shares_of(parent, container), 512)
        self.assertEqual(self.cri.exec(container, 'sh', '-c', 'echo $FROM_SPEC; exit 3'), ('1\n', 3))
        log = self.cri.logs / 'plain' / 'main.log'
        containerd.eventually(lambda: log.exists() and 'stdout F said' in log.read_text(), 'the log has the line')
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
        runtime.kill()
        code, _ = self.raw(self.cri.channel, 'Version')
        self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)
        with self.assertRaises(OSError):  # 503
            self.proxy.get('/healthz')
        runtime.start()
        containerd.eventually(lambda: isinstance(self.raw(self.cri.channel, 'Version'), bytes), 'the runtime answers')
        self.assertEqual(self.proxy.get('/healthz').strip(), 'ok')
        self.run_container(pod)


class Restarts(ProxyCase):
    def begin_calls(self, container):
        """An event stream and a unary call, both in flight."""
        service = '/runtime.v1.RuntimeService/'
        events = self.cri.channel.unary_stream(service + 'GetContainerEvents')(b'')
        request = protobuf.encode(cri.MESSAGES, 'ExecSyncRequest', {'container_id': container, 'cmd': ['sleep', '1000']})
        unary = self.cri.channel.unary_unary(service + 'ExecSync').future(request)
        containerd.eventually(lambda: self.proxy.metric('koord_cri_proxy_calls_in_flight') == 2, 'calls are in flight')
        return events, unary

    def retry(self):
        """Calls again until a call succeeds. Python's gRPC connects only during a call: this one waits for that."""
        version = self.cri.channel.unary_unary('/runtime.v1.RuntimeService/Version')
        containerd.eventually(lambda: self.succeeds(version), 'a retry succeeds')

    @staticmethod
    def succeeds(call):
        try:
            return call(b'', timeout=1, wait_for_ready=True)
        except grpc.RpcError:
            return False

    def test_after_a_kill_during_streams_and_unary_calls_a_retry_succeeds(self):
        container = self.run_container(self.run_pod('killed')[0])
        events, unary = self.begin_calls(container)
        self.proxy.kill()
        begin = time.monotonic()
        self.proxy.start()
        self.retry()
        print(f'a retry succeeded {time.monotonic() - begin:.3f} s after the start of the next proxy')
        self.assertEqual(unary.exception().code(), grpc.StatusCode.UNAVAILABLE)
        with self.assertRaises(grpc.RpcError):
            next(events)
        again = self.cri.channel.unary_stream('/runtime.v1.RuntimeService/GetContainerEvents')(b'', timeout=60)
        self.run_container(self.run_pod('later')[0])
        next(again)
        again.cancel()

    def test_a_second_proxy_takes_the_socket_over_and_a_failed_call_succeeds_when_it_is_repeated(self):
        container = self.run_container(self.run_pod('upgraded')[0])
        ended, results = threading.Event(), []

        def call_on():
            while not ended.is_set():
                results.append(self.raw(self.cri.channel, 'ListContainers'))
        caller = threading.Thread(target=call_on)
        caller.start()
        events, unary = self.begin_calls_of_second_client(container)
        old, self.proxy.process = self.proxy.process, None
        self.proxy.port = cri_proxy.free_port()
        self.proxy.start().wait()
        old.terminate()
        old.wait()
        self.retry()
        ended.set()
        caller.join()
        failed = [i for i, result in enumerate(results) if not isinstance(result, bytes)]
        print(f'{len(failed)} of {len(results)} calls failed: {[results[i] for i in failed]}')
        # gRPC cancels a call that arrives between the begin of the end and the client's notice of it.
        self.assertTrue(all(isinstance(result, bytes) for i in failed for result in results[i + 1:i + 2]))
        self.assertLessEqual(len(failed), 1)
        self.assertEqual(old.returncode, 0)
        self.assertIsNotNone(unary.exception())  # longer than --drain
        del events

    def begin_calls_of_second_client(self, container):
        channel = cri_proxy.channel_to(self.proxy.socket)
        self.addCleanup(channel.close)
        service = '/runtime.v1.RuntimeService/'
        request = protobuf.encode(cri.MESSAGES, 'ExecSyncRequest', {'container_id': container, 'cmd': ['sleep', '1000']})
        return (channel.unary_stream(service + 'GetContainerEvents')(b''),
                channel.unary_unary(service + 'ExecSync').future(request))

    def test_with_a_socket_of_systemd_calls_wait_while_the_proxy_restarts(self):
        with socket.socket(socket.AF_UNIX) as listener:
            self.proxy.stop()
            path = self.proxy.folder / 'systemd.sock'
            listener.bind(str(path))
            listener.listen()
            self.proxy.inherited = listener
            self.proxy.start().wait()
            client = cri.Cri(path)
            self.assertIsInstance(self.raw(client.channel, 'Version'), bytes)
            self.proxy.kill()
            with cri_proxy.channel_to(path) as fresh:
                waiting = fresh.unary_unary('/runtime.v1.RuntimeService/Version').future(b'', timeout=60)
                self.proxy.start()
                self.assertIsInstance(waiting.result(), bytes)
            client.channel.close()


class HooksOfTheAgent(ProxyCase):
    def test_a_container_gets_what_the_agent_answers(self):
        def answer(stage, _):
            return {'fields': {'linux.cpu.shares': '345', 'env:FROM_HOOK': 'yes', 'env:FROM_SPEC': '2',
                               'annotation:koord.test/seen': 'a', 'linux.cpu.bvt_warp_ns': '2'}} \
                if stage == 'PreCreateContainer' else {}
        agent = self.agent(answer)
        pod, parent = self.run_pod('hooked', {'koord.test/in': 'x'})
        container = self.run_container(pod)
        self.assertEqual(shares_of(parent, container), 345)
        self.assertEqual([line for line in environment_of(container) if line.startswith(b'FROM')],
                         [b'FROM_SPEC=2', b'FROM_HOOK=yes'])
        status = self.cri.call('ContainerStatus', container_id=container)['status']
        self.assertEqual(status['annotations'], {'koord.test/seen': 'a'})
        pod_question, container_question = agent.questions
        self.assertEqual(pod_question['pod']['annotations'], {'koord.test/in': 'x'})
        self.assertEqual(container_question['pod'] | {'labels': None}, {
            'name': 'hooked', 'namespace': 'koord-test', 'uid': 'uid-of-hooked', 'sandboxId': pod, 'runtimeHandler': '',
            'cgroupParent': parent, 'labels': None, 'annotations': {'koord.test/in': 'x'}})
        self.assertEqual(container_question['container'], {
            'name': 'main', 'id': '', 'annotations': {}, 'env': [{'name': 'FROM_SPEC', 'value': '1'}],
            'resources': {'linux.cpu.shares': '512'}})

    def test_an_update_of_the_kubelet_is_merged_with_what_is_known(self):
        agent = self.agent(lambda stage, _: {'fields': {'linux.cpu.shares': '777'}} if 'Update' in stage else {})
        pod, parent = self.run_pod('updated')
        container = self.run_container(pod)
        self.cri.update(container, {'cpu_quota': 50000, 'cpu_period': 100000})
        self.assertEqual(shares_of(parent, container), 777)
        self.assertEqual(agent.questions[-1]['container']['resources'],
                         {'linux.cpu.period': '100000', 'linux.cpu.quota': '50000', 'linux.cpu.shares': '512'})

    def test_a_rejection_refuses_the_container_with_its_text(self):
        self.agent(lambda stage, _: {'rejection': 'hook-gpu: no device is free'} if 'Create' in stage else {})
        pod, _ = self.run_pod('refused')
        with self.assertRaises(grpc.RpcError) as raised:
            self.run_container(pod)
        self.assertEqual(raised.exception.details(), 'hook-gpu: no device is free')
        self.assertEqual(runtime.cri.call('ListContainers'), {})

    def test_calls_pass_unchanged_if_the_agent_is_absent_late_or_answers_nonsense(self):
        ended = threading.Event()
        self.addCleanup(ended.set)
        for name, answer in (('absent', None), ('late', lambda *_: ended.wait(cri_proxy.LIMIT) and {}),
                             ('nonsense', lambda *_: ['x']), ('wrong', lambda *_: {'fields': {'linux.cpu.shares': 'many'}}),
                             ('typed', lambda *_: {'fields': {'env:A': 5}})):
            agent = answer and cri_proxy.Agent(self.proxy.agent, answer)
            pod, parent = self.run_pod(name)
            self.assertEqual(shares_of(parent, self.run_container(pod)), 512, name)
            if agent:
                agent.close()
        self.assertEqual(self.proxy.metric('koord_cri_proxy_hook_requests_total{source="agent",result="failed"}'), 10)
        self.assertIn('does not answer', self.proxy.log())

    def test_a_pod_with_the_skip_label_has_no_hooks(self):
        agent = self.agent(lambda *_: {'rejection': 'never'})
        parent = f'{runtime.cgroup}/pod-skipped'
        pod = self.cri.run_pod('skipped', parent, {}, {'runtimeproxy.koordinator.sh/skip-hookserver': 'true'})
        self.run_container(pod)
        self.assertEqual(agent.questions, [])


class Checkpoints(ProxyCase):
    def test_a_proxy_that_was_killed_knows_cgroup_parent_and_resources(self):
        pod, parent = self.run_pod('known')
        container = self.run_container(pod)
        self.proxy.kill()
        self.proxy.start().wait()
        agent = self.agent(lambda *_: {})
        self.retry_update(container)
        self.assertEqual(agent.questions[-1]['pod']['cgroupParent'], parent)
        self.assertEqual(agent.questions[-1]['container']['resources'],
                         {'linux.cpu.shares': '512', 'linux.memory.limit': str(64 << 20)})

    def retry_update(self, container):
        self.cri.connect()
        self.cri.update(container, {'memory_limit_in_bytes': 64 << 20})

    def test_a_damaged_file_is_named_and_set_aside_and_its_container_passes_without_hooks(self):
        container = self.run_container(self.run_pod('damaged')[0])
        other = self.run_container(self.run_pod('whole')[0])
        self.proxy.kill()
        path = self.proxy.state / 'containers' / container
        path.write_bytes(path.read_bytes()[:-3] + b'xyz')
        self.proxy.start().wait()
        agent = self.agent(lambda *_: {})
        self.retry_update(container)
        self.assertEqual(agent.questions, [])
        self.retry_update(other)
        self.assertEqual(len(agent.questions), 1)
        self.assertIn(f"checkpoint '{path}' is damaged: the checksum is wrong", self.proxy.log())
        self.assertEqual(sorted(file.name for file in path.parent.iterdir()), sorted([container + '.damaged', other]))

    def test_checkpoints_of_what_ended_meanwhile_are_removed(self):
        pod, _ = self.run_pod('gone')
        container = self.run_container(pod)
        self.proxy.kill()
        runtime.cri.remove_pods()
        self.proxy.start().wait()
        files = [self.proxy.state / 'pods' / pod, self.proxy.state / 'containers' / container]
        containerd.eventually(lambda: not any(file.exists() for file in files), 'the files are removed')

    def test_removing_a_container_and_a_pod_removes_their_files(self):
        pod, _ = self.run_pod('removed')
        self.run_container(pod)
        self.cri.remove_pods()
        folders = [self.proxy.state / 'pods', self.proxy.state / 'containers']
        containerd.eventually(lambda: not list(folders[0].iterdir()), 'the file of the pod is removed')


class HookServers(ProxyCase):
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
        self.assertEqual(shares_of(parent, container), 456)
        self.assertIn(b'ADDED=1', environment_of(container))
        self.assertEqual(requests[0][0], 'PreCreateContainerHook')
        self.assertEqual(requests[0][1]['pod_cgroup_parent'], parent)

    def test_the_agent_is_preferred_to_a_hook_server(self):
        server = cri_proxy.hook_server(self.name_server(), lambda *_: {'container_resources': {'cpu_shares': 456}})
        self.addCleanup(lambda: server.stop(None))
        self.agent(lambda stage, _: {'fields': {'linux.cpu.shares': '222'}} if 'Create' in stage else {})
        pod, parent = self.run_pod('both')
        self.assertEqual(shares_of(parent, self.run_container(pod)), 222)

    def test_a_server_that_does_not_answer_refuses_or_is_ignored_by_its_policy(self):
        self.name_server('Ignore', self.proxy.folder / 'absent.sock')
        pod, parent = self.run_pod('policy')
        self.assertEqual(shares_of(parent, self.run_container(pod)), 512)
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
        self.assertEqual(shares_of(parent, self.run_container(pod)), 456)
        self.assertIn("bad.json': remote-endpoint: ", self.proxy.log())


def run_again_on_unpacked_python():
    """Runs this file on the unpacked Python, which has the modules of the CRI client."""
    try:
        packages.check_available()
        root = packages.unpack(sys.argv[1], packages.CONTAINERD)
    except packages.Unavailable as error:
        print(f'skipped: {error}')
        sys.exit(77)
    command, environment = packages.python_command(root, pathlib.Path(__file__).parent)
    os.execve(command[0], command + sys.argv, environment | {UNPACKED: str(root)})


if __name__ == '__main__':
    if UNPACKED not in os.environ:
        run_again_on_unpacked_python()
    import grpc
    import containerd
    import cri
    import cri_passing_test
    import cri_proxy
    import protobuf
    from cri_passing_test import PassingTest
    program = cri_passing_test.PROGRAM = sys.argv[2]
    # Short: a path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder, \
            containerd.Containerd(pathlib.Path(os.environ[UNPACKED]), folder) as runtime:
        unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
