# SPDX-License-Identifier: Apache-2.0
"""The requests to both servers, in order, for tests to read and to wait for."""
import re
import threading
import time


class RequestLog:
    def __init__(self):
        self._changed = threading.Condition()
        self._entries = []
        self._begin = time.monotonic()

    def begin(self, **what):
        with self._changed:
            entry = {"index": len(self._entries), "time": round(time.monotonic() - self._begin, 6), "status": 0, "open": True,
                     **what}
            self._entries.append(entry)
            self._changed.notify_all()
            return entry

    def refused_handshake(self, server, connection):
        self.begin(server=server, verb="handshake", method="", path="", user_agent="", token=0, connection=connection, open=False)

    def update(self, entry, **what):
        with self._changed:
            entry.update(what)
            self._changed.notify_all()

    def entries(self, wanted):
        check_properties(wanted)
        with self._changed:
            return [dict(entry) for entry in self._entries if matches(entry, wanted)]

    def wait(self, wanted, seconds):
        """Waits for `count` matching requests and returns the matches; fewer if the time runs out."""
        wanted = dict(wanted)
        count = wanted.pop("count", 1)
        check_properties(wanted)
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                found = [dict(entry) for entry in self._entries if matches(entry, wanted)]
                left = deadline - time.monotonic()
                if len(found) >= count or left <= 0:
                    return found
                self._changed.wait(left)


_EXACT = ("server", "verb", "kind", "name", "namespace", "subresource", "status", "open", "token", "connection")


def check_properties(wanted):
    known = ("after", "answered", "path", "user_agent", *_EXACT)
    for key in wanted:
        if key not in known:
            raise ValueError(f"unknown property of a request: '{key}', expected one of {', '.join(known)}")


def matches(entry, wanted):
    """Returns whether a request matches. `after`: its index is larger; `path`: is a part of its path; `user_agent`: a regular
    expression; `answered`: it has a status. All other fields must be equal."""
    for key, value in wanted.items():
        if key == "after":
            holds = entry["index"] > value
        elif key == "path":
            holds = value in entry["path"]
        elif key == "user_agent":
            holds = re.search(value, entry["user_agent"]) is not None
        elif key == "answered":
            holds = (entry["status"] != 0) == value
        else:
            holds = entry.get(key) == value
        if not holds:
            return False
    return True
