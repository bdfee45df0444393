# SPDX-License-Identifier: Apache-2.0
"""Objects with one sequence of resourceVersions over all kinds, and the history that watches read. Stored objects are
never changed, because a write replaces them. A caller holds `changed` if several calls belong together."""
import datetime
import threading
import uuid
from dataclasses import dataclass

from . import status

FIRST_VERSION = 1000
_SNAPSHOTS = 64


@dataclass(frozen=True)
class Change:
    version: int
    kind: object
    type: str  # ADDED, MODIFIED, DELETED
    object: dict
    before: dict | None


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def key_of(obj):
    return (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


class Store:
    def __init__(self):
        self.changed = threading.Condition(threading.RLock())
        self.version = FIRST_VERSION
        self.compacted = FIRST_VERSION - 1  # watches can begin at this version or later
        self.history = []
        self._objects = {}
        self._snapshots = {}  # the state of continued lists

    def get(self, kind, namespace, name):
        with self.changed:
            return self._objects.get(kind.name, {}).get((namespace, name))

    def need(self, kind, namespace, name):
        found = self.get(kind, namespace, name)
        if found is None:
            raise status.not_found(kind, name)
        return found

    def all(self, kind):
        with self.changed:
            objects = self._objects.get(kind.name, {})
            return [objects[key] for key in sorted(objects)]

    def snapshot(self, kind):
        """Returns the version and all current objects. This snapshot can be read again until the history is dropped."""
        with self.changed:
            while len(self._snapshots) >= _SNAPSHOTS:
                del self._snapshots[next(iter(self._snapshots))]
            self._snapshots[kind.name, self.version] = self.all(kind)
            return self.version, self._snapshots[kind.name, self.version]

    def snapshot_of(self, kind, version):
        with self.changed:
            return self._snapshots.get((kind.name, version))

    def create(self, kind, obj):
        with self.changed:
            if self.get(kind, *key_of(obj)) is not None:
                raise status.already_exists(kind, obj["metadata"]["name"])
            metadata = {**obj["metadata"], "uid": obj["metadata"].get("uid") or str(uuid.uuid4()),
                        "creationTimestamp": obj["metadata"].get("creationTimestamp") or now()}
            if kind.custom:
                metadata["generation"] = 1
            return self._put(kind, "ADDED", {**obj, "metadata": metadata}, None)

    def replace(self, kind, obj):
        """Replaces an object. An equal object is not written and gets no new version."""
        with self.changed:
            before = self.need(kind, *key_of(obj))
            metadata = {**obj["metadata"], "uid": before["metadata"]["uid"],
                        "creationTimestamp": before["metadata"]["creationTimestamp"],
                        "resourceVersion": before["metadata"]["resourceVersion"]}
            if kind.custom:
                metadata["generation"] = before["metadata"]["generation"] + (1 if _spec_differs(kind, before, obj) else 0)
            obj = {"kind": kind.name, "apiVersion": kind.api_version, **obj, "metadata": metadata}
            return before if obj == before else self._put(kind, "MODIFIED", obj, before)

    def remove(self, kind, namespace, name):
        with self.changed:
            before = self.need(kind, namespace, name)
            del self._objects[kind.name][namespace, name]
            return self._record(kind, "DELETED", before, before)

    def compact(self):
        """Drops all history. Watches from an earlier version, and continued lists, get the error "too old"."""
        with self.changed:
            self.history.clear()
            self._snapshots.clear()
            self.compacted = self.version
            self.changed.notify_all()

    def since(self, version):
        """Returns the changes after this version; None if some of them are dropped."""
        with self.changed:
            if version < self.compacted:
                return None
            first = len(self.history)
            while first and self.history[first - 1].version > version:
                first -= 1
            return self.history[first:]

    def _put(self, kind, change, obj, before):
        recorded = self._record(kind, change, obj, before)
        self._objects.setdefault(kind.name, {})[key_of(obj)] = recorded
        return recorded

    def _record(self, kind, change, obj, before):
        self.version += 1
        obj = {"kind": kind.name, "apiVersion": kind.api_version, **obj}
        obj["metadata"] = {**obj["metadata"], "resourceVersion": str(self.version)}
        self.history.append(Change(self.version, kind, change, obj, before))
        self.changed.notify_all()
        return obj


def _spec_differs(kind, before, after):
    outside = {"metadata", "kind", "apiVersion"} | ({"status"} if kind.status else set())
    def spec(obj):
        return {key: value for key, value in obj.items() if key not in outside}
    return spec(before) != spec(after)
