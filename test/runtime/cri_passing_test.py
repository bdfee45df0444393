# SPDX-License-Identifier: Apache-2.0
"""Calls of every kind through koord-cri-proxy, to a gRPC server of the test."""
import os
import pathlib
import socket
import tempfile
import threading
import time
import unittest

import grpc

import cri_proxy

PROGRAM = None  # set by the caller
DETAILS_KEY = 'grpc-status-details-bin'
BIG = os.urandom(9 << 20)  # more than gRPC's usual limit of 4 MiB


def echo(request, context):
    context.send_initial_metadata((('first', 'a'), ('bytes-bin', b'\0\xff')))
    context.set_trailing_metadata((('last', 'b'), ) + tuple(
        ('seen-' + key, value) for key, value in context.invocation_metadata() if key.startswith('client-')))
    return request


def fail(_, context):
    context.set_trailing_metadata(((DETAILS_KEY, b'\x08\x05\x12\x04text'), ('why', 'full')))
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, 'no space – on the disk')


class Server:
    """A gRPC server with the methods echo, fail, wait (until it is cancelled), count, collect, chat. Others are unknown."""

    def __init__(self, path):
        self.cancelled, self.time_left = threading.Event(), []
        unary, streams = grpc.unary_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
        handlers = {'echo': unary(echo), 'fail': unary(fail), 'wait': unary(self.wait),
                    'count': grpc.unary_stream_rpc_method_handler(self.count),
                    'collect': grpc.stream_unary_rpc_method_handler(lambda parts, _: b''.join(parts)),
                    'chat': streams(lambda parts, _: (part.upper() for part in parts))}
        self.server = cri_proxy.serve(path, lambda method: handlers.get(method.rpartition('/')[2]))

    def wait(self, _, context):
        self.time_left.append(context.time_remaining())
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait(cri_proxy.LIMIT)
        self.cancelled.set()
        return b''

    @staticmethod
    def count(request, _):
        for i in range(int(request)):
            yield str(i).encode()


class BusyRuntime:
    """Accepts connections at `path`. A second after the first bytes of one, it begins to pass bytes to and from `runtime`."""

    def __init__(self, path, runtime):
        self.runtime, self.ended = str(runtime), threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ended.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client, ), daemon=True).start()

    def serve(self, client):
        with client, socket.socket(socket.AF_UNIX) as server:
            first = client.recv(1 << 16)
            self.ended.wait(1)
            server.connect(self.runtime)
            server.sendall(first)
            back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
            back.start()
            self.copy(client, server)
            server.shutdown(socket.SHUT_RDWR)
            back.join()

    @staticmethod
    def copy(source, target):
        try:
            while piece := source.recv(1 << 16):
                target.sendall(piece)
        except OSError:
            pass

    def close(self):
        self.ended.set()
        self.listener.close()


class PassingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        runtime = pathlib.Path(cls.folder.name) / 'runtime.sock'
        cls.server = Server(runtime)
        cls.proxy = cri_proxy.Proxy(PROGRAM, cls.folder.name, runtime).start().wait()
        cls.channel = grpc.insecure_channel(f'unix:{cls.proxy.socket}', options=cri_proxy.CHANNEL_OPTIONS + [
            ('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)])

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.proxy.stop()
        cls.server.server.stop(None)
        cls.folder.cleanup()

    def unary(self, method, request=b'', **options):
        return self.channel.unary_unary('/any.Service/' + method).with_call(request, timeout=cri_proxy.LIMIT, **options)

    def test_a_message_of_any_bytes_and_size_passes_with_its_metadata(self):
        for request in (b'', b'\xff\xfe\0', BIG):
            answer, call = self.unary('echo', request, metadata=(('client-text', 'x'), ('client-bin', b'\0\1')))
            self.assertEqual(answer, request)
            first, last = dict(call.initial_metadata()), dict(call.trailing_metadata())
            self.assertEqual((first['first'], first['bytes-bin']), ('a', b'\0\xff'))
            self.assertEqual((last['last'], last['seen-client-text'], last['seen-client-bin']), ('b', 'x', b'\0\1'))

    def test_a_status_passes_with_text_details_and_metadata(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.unary('fail')
        error = raised.exception
        self.assertEqual((error.code(), error.details()), (grpc.StatusCode.RESOURCE_EXHAUSTED, 'no space – on the disk'))
        trailing = [item for item in error.trailing_metadata() if item[0] in (DETAILS_KEY, 'why')]
        self.assertEqual(sorted(trailing), [(DETAILS_KEY, b'\x08\x05\x12\x04text'), ('why', 'full')])

    def test_a_method_that_the_runtime_lacks_is_unimplemented(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.unary('newer')
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_streams_pass_in_both_directions(self):
        path = '/any.Service/'
        counted = self.channel.unary_stream(path + 'count')(b'500', timeout=cri_proxy.LIMIT)
        self.assertEqual(list(counted), [str(i).encode() for i in range(500)])
        parts = [b'a' * i for i in range(100)]
        self.assertEqual(self.channel.stream_unary(path + 'collect')(iter(parts), timeout=cri_proxy.LIMIT), b''.join(parts))
        answers, go_on = [], threading.Event()

        def talk():
            yield b'one'
            go_on.wait(cri_proxy.LIMIT)
            yield b'two'
        for answer in self.channel.stream_stream(path + 'chat')(talk(), timeout=cri_proxy.LIMIT):
            answers.append(answer)
            go_on.set()
        self.assertEqual(answers, [b'ONE', b'TWO'])

    def test_a_deadline_and_a_cancellation_reach_the_runtime(self):
        call = self.channel.unary_unary('/any.Service/wait').future(b'', timeout=100)
        while not self.server.time_left:
            time.sleep(0.01)
        # gRPC rounds a deadline up by at most 1 % per hop.
        self.assertTrue(50 < self.server.time_left[0] < 103, self.server.time_left)
        call.cancel()
        self.assertTrue(self.server.cancelled.wait(cri_proxy.LIMIT))

    def test_hundreds_of_calls_at_once_get_their_own_answers(self):
        calls = [self.channel.unary_unary('/any.Service/echo').future(str(i).encode(), timeout=cri_proxy.LIMIT)
                 for i in range(300)]
        self.assertEqual([call.result() for call in calls], [str(i).encode() for i in range(300)])

    def test_a_request_of_a_parsed_method_that_is_garbage_passes_unchanged(self):
        method = '/runtime.v1.RuntimeService/CreateContainer'
        with self.assertRaises(grpc.RpcError) as raised:
            self.channel.unary_unary(method)(b'\xff\xff\xff', timeout=cri_proxy.LIMIT)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertEqual(self.proxy.metric('koord_cri_proxy_passed_unhooked_total{reason="unreadable"}'), 1)

    def test_a_call_waits_for_a_runtime_that_is_slow_to_answer_a_new_connection(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / 'busy.sock'
        busy = BusyRuntime(path, pathlib.Path(self.folder.name) / 'runtime.sock')
        self.addCleanup(busy.close)
        proxy = cri_proxy.Proxy(PROGRAM, folder.name, path).start().wait()
        self.addCleanup(proxy.stop)
        with cri_proxy.channel_to(proxy.socket) as channel:
            self.assertEqual(channel.unary_unary('/any.Service/echo')(b'late', timeout=cri_proxy.LIMIT), b'late')

    def test_a_client_that_sends_no_gRPC_harms_no_other(self):
        for garbage in (b'GET / HTTP/1.1\r\n\r\n', os.urandom(4096), b''):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.proxy.socket))
                client.sendall(garbage)
        self.assertEqual(self.unary('echo', b'still')[0], b'still')
