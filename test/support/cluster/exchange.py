# SPDX-License-Identifier: Apache-2.0
"""One request and its answer, with the faults that change its bytes: hang, mute, slow, cut, endless, garbage, answer."""
import gzip
import json
import select
import time

from . import status

MAX_BODY = 3 << 20
_GZIP_FROM = 128 << 10


class Broken(OSError):
    """Raised to close the connection without the rest of an answer."""


class Exchange:
    def __init__(self, handler, listener, connection, path, query):
        self._handler, self._listener = handler, listener
        self.method, self.path, self.query, self.headers = handler.command, path, query, handler.headers
        self.target = handler.path  # the target that the client sent
        self.request = {"server": listener.name, "path": handler.path}  # the fields that select faults
        self.entry = None
        self._connection = connection
        self._raw = handler.connection
        self._chunked = False
        self._slow = self._cut = self._answer = None
        self._clearings = 0
        self._sent = 0
        self._text = self._read_body()

    def certificate(self):
        return self._raw.getpeercert() or None

    def begin(self, verb, user, generation, **about):
        """Adds the request to the log, and applies the faults that come before any answer."""
        self.request.update(verb=verb, user=user, **about)
        self.entry = self._listener.log.begin(
            server=self._listener.name, verb=verb, method=self.method, path=self._handler.path,
            user_agent=self.headers.get("User-Agent", ""), user=user, token=generation, connection=self._connection, **about)
        if rule := self.fault("hang"):
            self._listener.faults.wait_until_cleared(rule, self.client_gone)
            raise Broken("hung")
        self._slow, self._cut = self.fault("slow"), self.fault("cut")
        self._clearings = self._listener.faults.clearings()
        if rule := self.fault("endless"):
            self._endless()
        if rule := self.fault("garbage"):
            self._garbage(rule)
        self._answer = self.fault("answer")
        if self._answer and not self._answer.get("done"):
            self._answer_on_purpose()
            raise Answered()

    def fault(self, name):
        return self._listener.faults.find(name, self.request)

    def missing(self, kind):
        """Returns whether a fault removes the definition of this kind."""
        return self._listener.faults.find("missing", {"server": "api", "path": "", "kind": kind}) is not None

    def body(self):
        """Returns the request's body as JSON; None if it is empty."""
        if self._text is None:
            raise status.Refusal(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
        if not self._text:
            return None
        try:
            return json.loads(self._text)
        except ValueError as error:
            raise status.bad_request(f"the object provided is unrecognized: {error}") from error

    def raw_body(self):
        """Returns the request's body unchanged."""
        if self._text is None:
            raise status.Refusal(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}")
        return self._text

    def begin_passing(self, code, headers):
        """Begins a chunked answer with the body of a different server."""
        self._chunked = True
        self._begin_answer(code, {**dict(headers), "Transfer-Encoding": "chunked"})

    def pass_without_body(self, code, headers):
        """Sends an answer of a different server that has no body, not even an empty body, such as 304."""
        self._begin_answer(code, dict(headers))
        self.end()

    def pass_piece(self, data):
        self._send_chunk(data)

    def _read_body(self):
        """Always reads the body, because otherwise the connection's next request would begin in the body."""
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding"):
            raise Broken("a body of unknown length")
        if length <= MAX_BODY:
            return self._handler.rfile.read(length)
        while length > 0:
            length -= len(self._handler.rfile.read(min(length, 65536))) or length
        return None

    def reply(self, code, body, headers=None):
        """Sends an answer. `body`: an object or text."""
        if rule := self.fault("mute"):
            self._listener.faults.wait_until_cleared(rule, self.client_gone)
            raise Broken("mute")
        if self._answer:
            return self._answer_on_purpose()
        kind = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"
        data = body.encode() if isinstance(body, str) else json.dumps(body, separators=(",", ":")).encode()
        headers = dict(headers or {})
        if len(data) >= _GZIP_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
            data = gzip.compress(data, 1)
            headers["Content-Encoding"] = "gzip"
        self._begin_answer(code, {"Content-Type": kind, "Content-Length": str(len(data)), **headers})
        self._write(data)
        self.end()

    def upgrade(self, headers):
        """Answers that the connection changes its protocol. Returns its socket; the connection ends with this exchange."""
        self._begin_answer(101, headers)
        self._handler.close_connection = True
        return self._raw

    def begin_stream(self):
        self._chunked = True
        self._begin_answer(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})

    def send_line(self, obj):
        self._send_chunk(json.dumps(obj, separators=(",", ":")).encode() + b"\n")

    def end_stream(self):
        self._handler.wfile.write(b"0\r\n\r\n")
        self.end()

    def end(self):
        if self.entry is not None:
            self._listener.log.update(self.entry, open=False, bytes=self._sent)

    def client_gone(self):
        """Returns whether the client closed the connection: a client that waits for an answer sends nothing more."""
        readable, _, _ = select.select([self._raw], [], [], 0)
        return bool(readable)

    def _begin_answer(self, code, headers):
        if self.entry is not None:
            self._listener.log.update(self.entry, status=code)
        self._handler.send_response(code)
        for name, value in {"Cache-Control": "no-cache, private", **headers}.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def _send_chunk(self, data):
        frame = b"%x\r\n" % len(data)
        self._handler.wfile.write(frame)
        self._write(data)
        self._handler.wfile.write(b"\r\n")

    def _write(self, data):
        if self._cut is not None and self._sent + len(data) > self._cut["after_bytes"]:
            self._handler.wfile.write(data[:self._cut["after_bytes"] - self._sent])
            self._break_off()
        while self._slow is not None and data:
            step = max(1, self._slow["bytes_per_second"] // 20)
            self._handler.wfile.write(data[:step])
            self._sent, data = self._sent + min(step, len(data)), data[step:]
            time.sleep(step / self._slow["bytes_per_second"])
            if self._listener.faults.clearings() != self._clearings:
                self._slow = None
        self._handler.wfile.write(data)
        self._sent += len(data)

    def _break_off(self):
        self.end()
        self._listener.break_off(self._connection)
        raise Broken("cut")

    def _garbage(self, rule):
        self.reply(200, rule.get("body", '{"kind": "\x00<html>} not what you asked for'), {"Content-Type": "application/json"})
        raise Answered()

    def _answer_on_purpose(self):
        """Sends any status, headers and body, or closes the connection instead."""
        rule = self._answer
        if rule.get("close"):
            self._break_off()
        data = (rule.get("body", "") + rule.get("filler", "") * rule.get("times", 1) + rule.get("tail", "")).encode()
        self._begin_answer(rule.get("code", 200), {"Content-Type": "application/json", "Content-Length": str(len(data)),
                                                   **rule.get("headers", {})})
        self._write(data)
        self.end()

    def _endless(self):
        """Sends a list that never ends, or for a watch one event that never ends."""
        self.begin_stream()
        opening = b'{"type":"ADDED","object":{"x":"' if self.request["verb"] == "watch" else b'{"kind":"List","items":[],"x":"'
        self._send_chunk(opening)
        while True:
            self._send_chunk(b"x" * 65536)


class Answered(Exception):
    """Raised when a fault has already answered."""
