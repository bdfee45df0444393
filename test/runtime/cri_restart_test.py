# SPDX-License-Identifier: Apache-2.0
"""Restarts of koord-cri-proxy during calls, and its checkpoints."""
import socket
import threading
import time

import grpc

import containerd
import cri
import cri_case
import cri_proxy
import protobuf


class Restarts(cri_case.ProxyCase):
    def begin_calls(self, container):
        """Starts an event stream and a unary call, which stay in progress."""
        service = '/runtime.v1.RuntimeService/'
        events = self.cri.channel.unary_stream(service + 'GetContainerEvents')(b'')
        request = protobuf.encode(cri.MESSAGES, 'ExecSyncRequest', {'container_id': container, 'cmd': ['sleep', '1000']})
        unary = self.cri.channel.unary_unary(service + 'ExecSync').future(request)
        containerd.eventually(lambda: self.proxy.metric('koord_cri_proxy_calls_in_flight') == 2, 'calls are in flight')
        return events, unary

    def retry(self):
        """Repeats a call until it succeeds. Python's gRPC connects only during a call, so this waits for the connection."""
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
        # gRPC cancels a call that arrives after the server begins to stop and before the client notices it.
        self.assertTrue(all(isinstance(result, bytes) for i in failed for result in results[i + 1:i + 2]))
        self.assertLessEqual(len(failed), 1)
        self.assertEqual(old.returncode, 0)
        self.assertIsNotNone(unary.exception())  # it takes longer than --drain
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


class Checkpoints(cri_case.ProxyCase):
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
        # The proxy may still be writing the second checkpoint.
        names = sorted(file.name for file in path.parent.iterdir() if '.new.' not in file.name)
        self.assertEqual(names, sorted([container + '.damaged', other]))

    def test_checkpoints_of_what_ended_meanwhile_are_removed(self):
        pod, _ = self.run_pod('gone')
        container = self.run_container(pod)
        self.proxy.kill()
        cri_case.runtime.cri.remove_pods()
        self.proxy.start().wait()
        files = [self.proxy.state / 'pods' / pod, self.proxy.state / 'containers' / container]
        containerd.eventually(lambda: not any(file.exists() for file in files), 'the files are removed')

    def test_removing_a_container_and_a_pod_removes_their_files(self):
        pod, _ = self.run_pod('removed')
        self.run_container(pod)
        self.cri.remove_pods()
        folders = [self.proxy.state / 'pods', self.proxy.state / 'containers']
        containerd.eventually(lambda: not list(folders[0].iterdir()), 'the file of the pod is removed')
