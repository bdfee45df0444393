# SPDX-License-Identifier: Apache-2.0
"""A listener on loopback that keeps its port while it is down, and a thread with TLS for each connection."""
import http.server
import itertools
import socket
import ssl
import threading
import urllib.parse

from . import exchange

_numbers = itertools.count(1)


class Listener:
    """A listener. `serve(exchange)` answers one request."""

    def __init__(self, name, credentials, faults, log, serve, port=0):
        self.name, self.faults, self.log, self.serve = name, faults, log, serve
        self._credentials = credentials
        self._open = {}
        self._mutex = threading.Lock()
        self._up = threading.Event()
        # A socket that is shut down keeps its port only if the port was bound by number, so take a free port's number first.
        with _bound(port) as first:
            self.port = first.getsockname()[1]
            self._socket = _bound(self.port)
        self.go_up()
        threading.Thread(target=self._accept, daemon=True).start()

    def go_up(self):
        if not self._up.is_set():
            self._socket.listen(128)
            self._up.set()

    def go_down(self):
        """Refuses new connections and cuts existing connections. Keeps the port, because after shutdown() the socket is
        still bound, but does not listen."""
        if self._up.is_set():
            self._up.clear()
            self._socket.shutdown(socket.SHUT_RDWR)
        self.disconnect()

    def disconnect(self):
        with self._mutex:
            for connection in self._open.values():
                _shut(connection)

    def break_off(self, number):
        with self._mutex:
            _shut(self._open[number])

    def _accept(self):
        while True:
            self._up.wait()
            try:
                connection, _ = self._socket.accept()
            except OSError:
                continue
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, raw):
        number = next(_numbers)
        with self._mutex:
            self._open[number] = raw.dup()
        try:
            if not self._up.is_set():
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if rule := self.faults.find("hang", {"server": self.name, "path": ""}, handshake=True):
                self.faults.wait_until_cleared(rule, lambda: not self._up.is_set())
            with self._secure(raw, number) as connection:
                _Requests(connection, self, number)
                _say_goodbye(connection)
        except (OSError, ssl.SSLError, ValueError):
            pass  # the client closed the connection or refused our certificate
        finally:
            with self._mutex:
                shadow = self._open.pop(number)
            _shut(shadow)
            shadow.close()
            raw.close()

    def _secure(self, raw, number):
        try:
            return self._credentials.context(self.name).wrap_socket(raw, server_side=True)
        except OSError:
            self.log.refused_handshake(self.name, number)
            raise


def _bound(port):
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound


def _shut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _say_goodbye(connection):
    """Sends TLS close_notify without waiting for the client's close_notify."""
    connection.settimeout(0)
    try:
        connection.unwrap()
    except (OSError, ValueError):
        pass


class _Requests(http.server.BaseHTTPRequestHandler):
    """Serves all requests of one connection."""
    protocol_version = "HTTP/1.1"

    def __init__(self, connection, listener, number):
        self._listener, self._number = listener, number
        super().__init__(connection, ("127.0.0.1", 0), None)

    def _answer(self):
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self._listener.serve(exchange.Exchange(self, self._listener, self._number, urllib.parse.unquote(parts.path), query))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, format, *args):  # the request log has everything
        pass
