# SPDX-License-Identifier: Apache-2.0
"""A socket in front of an agent's socket. It keeps the first answer to each request and repeats it, so the page and koordctl get
the same data."""
import http.client
import http.server
import socket
import socketserver
import threading
import urllib.parse


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('agent')
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.connect(self.path)
        except OSError:
            self.sock.close()
            raise


def ask(path, target):
    connection = UnixConnection(path)
    connection.request('GET', target)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        status, body = self.server.answer(self.path)
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return 'local'

    def log_message(self, *_):
        pass


class FrozenAgent(socketserver.ThreadingUnixStreamServer):
    """`instead`: {path: body}, sent instead of the agent's answer for any parameters; or a function of the parameters that
    returns status and body, and may wait."""
    daemon_threads = True

    def __init__(self, path, agent):
        super().__init__(path, Handler)
        self.agent, self.instead, self.kept, self.lock = agent, {}, {}, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, target):
        url = urllib.parse.urlsplit(target)
        if (instead := self.instead.get(url.path)) is not None:
            return instead(dict(urllib.parse.parse_qsl(url.query))) if callable(instead) else (200, instead)
        with self.lock:
            if target not in self.kept:
                self.kept[target] = ask(self.agent, target)
            return self.kept[target]
