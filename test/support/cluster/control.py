# SPDX-License-Identifier: Apache-2.0
"""The control endpoint: HTTP on a unix socket. POST /COMMAND with a JSON object of arguments; COMMAND is a public function of
Cluster. An invalid command is answered with 400 and a line of text, a timeout with 408."""
import http.server
import inspect
import json
import socketserver
import threading


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        try:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = _run(self.server.cluster, self.path.strip("/"), json.loads(text or b"{}"))
            self._reply(200, json.dumps(answer), "application/json")
        except TimeoutError as error:
            self._reply(408, str(error))
        except Exception as error:  # any error goes to the test that sent the command
            self._reply(400, f"{type(error).__name__}: {error}")

    def _reply(self, code, text, content_type="text/plain; charset=utf-8"):
        data = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


def _run(cluster, command, arguments):
    known = sorted(name for name, _ in inspect.getmembers(type(cluster), inspect.isfunction) if not name.startswith("_"))
    if command not in known:
        raise ValueError(f"unknown command '{command}', expected one of {', '.join(known)}")
    return getattr(cluster, command)(**arguments)


def start(path, cluster):
    server = _Server(path, _Handler)
    server.cluster = cluster
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return path
