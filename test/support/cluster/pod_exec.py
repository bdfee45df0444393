# SPDX-License-Identifier: Apache-2.0
"""Exec of a command in a pod, over WebSocket, as `kubectl exec` asks for it. The pods are on this machine, so the command runs here.

Each message begins with the number of its channel. A process that reads nothing while it writes must not get more input than a pipe
holds, because one thread serves both directions.
"""
import base64
import hashlib
import json
import os
import selectors
import subprocess
import urllib.parse

from . import exchange as exchanges, status

_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")  # the newest first
_STDIN, _STDOUT, _STDERR, _RESULT, _CLOSE = 0, 1, 2, 3, 255
_CONTINUATION, _BINARY, _END, _PING, _PONG = 0, 2, 8, 9, 10
_KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


def serve(exchange, pod):
    offered = [name.strip() for name in exchange.headers.get("Sec-WebSocket-Protocol", "").split(",")]
    protocol = next((name for name in _PROTOCOLS if name in offered), None)
    if exchange.headers.get("Upgrade", "").lower() != "websocket" or protocol is None:
        raise status.bad_request(f"expected an upgrade to WebSocket with one of the protocols {', '.join(_PROTOCOLS)}")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(exchange.target).query)
    names = [container["name"] for container in pod["spec"].get("containers", [])]
    container = query.get("container", names[:1])
    if not container or container[0] not in names:
        raise status.bad_request(f"container {' '.join(container)} is not valid for pod {pod['metadata']['name']}")
    key = hashlib.sha1((exchange.headers["Sec-WebSocket-Key"] + _KEY_SUFFIX).encode()).digest()
    messages = _Messages(exchange.upgrade({"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Protocol": protocol,
                                           "Sec-WebSocket-Accept": base64.b64encode(key).decode()}))
    _run(messages, query.get("command", []))
    exchange.end()


def _run(messages, command):
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        return messages.finish({"status": "Failure", "reason": "InternalError", "code": 500, "message": f"error executing command in container: {error}"})
    with process:
        try:
            _join(messages, process)
        except OSError:
            process.kill()
            raise
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode  # a signal, as a shell reports it
    messages.finish({"status": "Success"} if code == 0 else {
        "status": "Failure", "reason": "NonZeroExitCode", "code": 500, "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}})


def _join(messages, process):
    """Passes data until the process has closed its output. Raises Broken if the client is gone."""
    outputs = {process.stdout.fileno(): _STDOUT, process.stderr.fileno(): _STDERR}
    with selectors.DefaultSelector() as selector:
        for source in (messages.connection, *outputs):
            selector.register(source, selectors.EVENT_READ)
        while outputs:
            ready = {key.fd for key, _ in selector.select(0 if messages.connection.pending() else None)}
            if messages.connection.pending() or messages.connection.fileno() in ready:
                for channel, data in messages.receive():
                    _to_process(process, channel, data)
            for fd in ready & set(outputs):
                data = os.read(fd, 32768)
                if data:
                    messages.send(outputs[fd], data)
                else:
                    selector.unregister(fd)
                    del outputs[fd]


def _to_process(process, channel, data):
    try:
        if channel == _STDIN:
            process.stdin.write(data)
            process.stdin.flush()
        elif channel == _CLOSE and data == bytes([_STDIN]):
            process.stdin.close()
    except BrokenPipeError:
        pass  # it reads no more; its output is still to come


class _Messages:
    """The messages of one WebSocket, RFC 6455."""

    def __init__(self, connection):
        self.connection = connection
        self._received = b""
        self._parts = b""  # of a message that is not complete

    def receive(self):
        """Reads once. Returns channel and data of each complete message."""
        more = self.connection.recv(65536)
        if not more:
            raise exchanges.Broken("the client is gone")
        self._received += more
        messages = []
        while (frame := self._frame()) is not None:
            is_last, kind, data = frame
            if kind == _END:
                raise exchanges.Broken("the client has ended the command")
            if kind == _PING:
                self._write(_PONG, data)
            elif kind in (_BINARY, _CONTINUATION):
                self._parts += data
                if is_last and self._parts:
                    messages.append((self._parts[0], self._parts[1:]))
                if is_last:
                    self._parts = b""
        return messages

    def send(self, channel, data):
        self._write(_BINARY, bytes([channel]) + data)

    def finish(self, result):
        self.send(_RESULT, json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, **result}).encode())
        self._write(_END, (1000).to_bytes(2, "big"))

    def _frame(self):
        """Takes a frame of a client, which is masked, off the received bytes; None if it is not complete."""
        text = self._received
        if len(text) < 2:
            return None
        length, begin = text[1] & 127, 2
        for marker, size in ((126, 2), (127, 8)):
            if text[1] & 127 == marker:
                begin = 2 + size
                length = int.from_bytes(text[2:begin], "big")
        end = begin + 4 + length
        if len(text) < end:
            return None
        mask = text[begin:begin + 4] * (length // 4 + 1)
        data = bytes(one ^ other for one, other in zip(text[begin + 4:end], mask))
        self._received = text[end:]
        return bool(text[0] & 128), text[0] & 15, data

    def _write(self, kind, data):
        size = len(data)
        length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 65536 else b"\x7f" + size.to_bytes(8, "big")
        self.connection.sendall(bytes([128 | kind]) + length + data)
