# SPDX-License-Identifier: Apache-2.0
"""A client of a container runtime's streaming server. Its URL is the answer to Exec, Attach and PortForward. Uses WebSocket with
the protocol v4.channel.k8s.io: the first byte of each message is the number of its stream."""
import base64
import os
import socket
import urllib.parse

PROTOCOL = 'v4.channel.k8s.io'
BINARY, CLOSE = 2, 8
LIMIT = 60  # seconds


class Streams:
    """`query`: addition to the URL, such as the port of PortForward."""

    def __init__(self, url, query=''):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=LIMIT)
        self.file = self.socket.makefile('rb')
        self.socket.sendall(f'GET {parts.path}?{query} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n'
                            'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                            f'Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n'
                            f'Sec-WebSocket-Protocol: {PROTOCOL}\r\nOrigin: http://localhost\r\n\r\n'.encode())
        head = b''.join(iter(self.file.readline, b'\r\n'))
        if b' 101 ' not in head.splitlines()[0]:
            raise AssertionError(f'the streaming server answers {head}')

    def send(self, stream, data):
        payload, mask = bytes([stream]) + data, os.urandom(4)
        assert len(payload) < 126
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | BINARY, 0x80 | len(payload)]) + mask + masked)

    def __iter__(self):
        """Yields the messages until the end: number of the stream, data."""
        while head := self.file.read(2):
            length = head[1] & 0x7f
            if length == 126:
                length = int.from_bytes(self.file.read(2), 'big')
            elif length == 127:
                length = int.from_bytes(self.file.read(8), 'big')
            payload = self.file.read(length)
            if head[0] & 0xf == CLOSE:
                return
            if payload:
                yield payload[0], payload[1:]

    def close(self):
        self.file.close()
        self.socket.close()
