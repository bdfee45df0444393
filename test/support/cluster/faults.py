# SPDX-License-Identifier: Apache-2.0
"""Faults by name. A fault lasts until it is cleared, or for `count` requests. It affects only the requests that it matches."""
import threading

from . import kinds

# The fields that select the requests that a fault affects. A missing field matches all.
CHOICE = {"server", "verb", "path", "kind", "user", "count"}

# The arguments of each fault. README.md describes the faults.
KNOWN = {
    "down": {"server"},
    "hang": CHOICE | {"handshake"},
    "mute": CHOICE,
    "slow": CHOICE | {"bytes_per_second"},
    "cut": CHOICE | {"after_bytes"},
    "error": CHOICE | {"code", "reason", "message", "retry_after"},
    "too_many_requests": CHOICE | {"retry_after"},
    "gone": CHOICE | {"as"},
    "garbage": CHOICE | {"body"},
    "answer": CHOICE | {"code", "body", "headers", "filler", "times", "tail", "done", "close"},
    "endless": CHOICE,
    "empty": CHOICE,
    "not_ready": CHOICE,
    "deny": CHOICE,
    "missing": {"kind"},
    "conflict": CHOICE,
    "refuse": CHOICE | {"fields"},
}
_REQUIRED = {"slow": ["bytes_per_second"], "cut": ["after_bytes"], "error": ["code"], "missing": ["kind"], "refuse": ["fields"]}
_CHOICES = {"server": ("api", "kubelet", "both"), "as": ("event", "status")}


class Faults:
    def __init__(self):
        self.changed = threading.Condition()
        self._rules = []
        self._clearings = 0

    def add(self, name, arguments):
        if name not in KNOWN:
            raise ValueError(f"unknown fault '{name}', expected one of {', '.join(KNOWN)}")
        for key in arguments:
            if key not in KNOWN[name]:
                raise ValueError(f"fault '{name}' has no argument '{key}', expected one of {', '.join(sorted(KNOWN[name]))}")
        for key in _REQUIRED.get(name, []):
            if key not in arguments:
                raise ValueError(f"fault '{name}' needs the argument '{key}'")
        for key, known in _CHOICES.items():
            if key in arguments and arguments[key] not in known:
                raise ValueError(f"'{key}' of fault '{name}': expected one of {', '.join(known)}, found '{arguments[key]}'")
        if "kind" in arguments:
            arguments = {**arguments, "kind": kinds.named(arguments["kind"]).name}
        with self.changed:
            self._rules.append({"server": "api", **arguments, "name": name})
            self.changed.notify_all()

    def clear(self, name=None):
        with self.changed:
            self._rules = [rule for rule in self._rules if name is not None and rule["name"] != name]
            self._clearings += 1
            self.changed.notify_all()

    def find(self, name, request, handshake=False):
        """Returns the first fault of this name that applies to the request, and counts it as used; None if none applies."""
        with self.changed:
            for rule in self._rules:
                if rule["name"] == name and rule.get("handshake", False) == handshake and _strikes(rule, request):
                    if "count" in rule:
                        rule["count"] -= 1
                        if rule["count"] <= 0:
                            self._rules.remove(rule)
                    return rule
        return None

    def wait_until_cleared(self, rule, ended):
        """Waits until faults of this name are cleared or the periodic check `ended()` is true."""
        with self.changed:
            before = self._clearings
            while not ended() and (self._clearings == before or rule in self._rules):
                self.changed.wait(0.2)

    def is_down(self, server):
        return self.find("down", {"server": server, "path": ""}) is not None

    def clearings(self):
        with self.changed:
            return self._clearings


def _strikes(rule, request):
    if rule["server"] not in ("both", request["server"]):
        return False
    for key in ("verb", "kind", "user"):
        if key in rule and rule[key] != request.get(key):
            return False
    return rule.get("path", "") in request["path"]
