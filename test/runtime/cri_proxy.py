# SPDX-License-Identifier: Apache-2.0
"""Parts of the tests of koord-cri-proxy: the program itself, an agent and a hook server with given answers, and gRPC
servers."""
import http.server
import json
import os
import pathlib
import socket
import socketserver
import subprocess
import threading
import time
import urllib.request
from concurrent import futures

import grpc

import protobuf

HOOKS = protobuf.schema("""
Resources cpu_shares=3:i memory_limit=4:i oom_score_adj=5:i cpuset_cpus=6
PodMeta name=1 uid=2 namespace=3
ContainerMeta name=1 id=3
Request pod_meta=1:PodMeta container_meta=2:ContainerMeta container_annotations=3:map container_resources=4:Resources
  pod_cgroup_parent=8 container_envs=9:map
Response container_annotations=1:map container_resources=2:Resources container_envs=4:map
""")
CHANNEL_OPTIONS = [('grpc.default_authority', 'localhost'), ('grpc.enable_http_proxy', 0),
                   ('grpc.initial_reconnect_backoff_ms', 50), ('grpc.min_reconnect_backoff_ms', 50),
                   ('grpc.max_reconnect_backoff_ms', 100), ('grpc.use_local_subchannel_pool', 1)]
LIMIT = 60


def channel_to(path):
    return grpc.insecure_channel(f'unix:{path}', options=CHANNEL_OPTIONS)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Proxy:
    """Runs koord-cri-proxy in `folder`, which must have a short path. With `inherited` the proxy gets that listening socket as if
    from systemd."""

    def __init__(self, program, folder, runtime, *options, inherited=None):
        self.folder = pathlib.Path(folder)
        self.socket, self.agent = self.folder / 'proxy.sock', self.folder / 'agent.sock'
        self.state, self.hook_servers = self.folder / 'proxy', self.folder / 'hookserver.d'
        self.port = free_port()
        self.log_path = self.folder / 'proxy.log'
        self.command = [program, '--listen', self.socket, '--runtime', runtime, '--agent', self.agent, '--state-dir',
                        self.state, '--hook-servers', self.hook_servers, *options]
        self.inherited, self.process = inherited, None

    def start(self):
        command = [*map(str, self.command), '--health', f'127.0.0.1:{self.port}']
        environment = {name: value for name, value in os.environ.items() if not name.startswith('PYTHON')}
        descriptors = ()
        if self.inherited:
            descriptors = (self.inherited.fileno(), )
            move = f'exec 3<&{descriptors[0]}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'
            command = ['sh', '-c', move, 'sh', *command]
        with open(self.log_path, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log, env=environment,
                                            pass_fds=descriptors)
        return self

    def wait(self):
        """Waits until the proxy serves."""
        end = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.get('/metrics')
                return self
            except OSError:
                time.sleep(0.01)
        raise AssertionError('the proxy does not serve: ' + self.log())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def log(self):
        return self.log_path.read_text()

    def get(self, path):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}{path}', timeout=LIMIT) as answer:
            return answer.read().decode()

    def metric(self, line):
        """Returns the value of a series, which is written as on the page."""
        for each in self.get('/metrics').splitlines():
            if each.startswith(line + ' '):
                return float(each.split()[-1])
        return None


class Agent:
    """Answers POST /api/v1/hooks/STAGE at `path`. `answer` gets the stage and the question, and returns a mapping."""

    def __init__(self, path, answer):
        self.questions = []
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                agent.questions.append(question)
                body = json.dumps(answer(self.path.rpartition('/')[2], question)).encode()
                self.send_response(200)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

            def address_string(self):
                return 'local'

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

            def handle_error(self, *_):  # the proxy does not wait for a late answer
                pass

        self.path = pathlib.Path(path)
        self.path.unlink(missing_ok=True)
        self.server = Server(str(path), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.path.unlink(missing_ok=True)


class AnyMethod(grpc.GenericRpcHandler):
    def __init__(self, handler):
        self.handler = handler

    def service(self, details):
        return self.handler(details.method)


def serve(path, handler):
    """A gRPC server on a unix socket; `handler` gets the method and returns a method handler, or None."""
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[AnyMethod(handler)],
                         options=[('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)])
    server.add_insecure_port(f'unix:{path}')
    server.start()
    return server


def hook_server(path, answer):
    """A server of RuntimeHookService. `answer` gets the method's name and the request, and returns a response."""
    def handler(method):
        name = method.rpartition('/')[2]
        return grpc.unary_unary_rpc_method_handler(
            lambda request, _: protobuf.encode(HOOKS, 'Response', answer(name, protobuf.decode(HOOKS, 'Request', request))))
    return serve(path, handler)
