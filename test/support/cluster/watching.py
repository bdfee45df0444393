# SPDX-License-Identifier: Apache-2.0
"""Watches: one line of JSON for each change that matches the client's selectors, from the version that it names."""
import random
import time

from . import resources, selection, status

BOOKMARK_PERIOD = 60


class Watches:
    """Events that affect all open watches at the same time."""

    def __init__(self, store):
        self._store = store
        self.bookmarks = 0  # requested so far
        self.endings = 0
        self.last_version = 0  # version at the last end of all watches; later changes are not reported

    def send_bookmarks(self):
        with self._store.changed:
            self.bookmarks += 1
            self._store.changed.notify_all()

    def end_all(self):
        with self._store.changed:
            self.endings += 1
            self.last_version = self._store.version
            self._store.changed.notify_all()


class Watch:
    def __init__(self, store, watches, kind, namespace, query, exchange):
        self._store, self._watches, self._kind, self._exchange = store, watches, kind, exchange
        selected = selection.both(kind, query)
        self._wanted = lambda obj: (not namespace or obj["metadata"].get("namespace") == namespace) and selected(obj)
        self._query = query
        self._may_bookmark = query.get("allowWatchBookmarks") in ("true", "1")
        self._version = resources.asked_version(query)

    def run(self):
        streaming = self._streaming_list()
        exchange = self._exchange
        with self._store.changed:
            bookmarks, endings = self._watches.bookmarks, self._watches.endings
            initial = []
            if streaming or not self._version:
                initial = [obj for obj in self._store.all(self._kind) if self._wanted(obj)]
                self._version = self._store.version
        exchange.begin_stream()
        for obj in initial:
            self._event("ADDED", obj)
        if streaming:
            self._bookmark({"k8s.io/initial-events-end": "true"})
        end = time.monotonic() + self._seconds()
        next_bookmark = time.monotonic() + BOOKMARK_PERIOD
        while True:
            with self._store.changed:
                changes = self._wait(min(end, next_bookmark), bookmarks, endings)
                ask, ended = self._watches.bookmarks != bookmarks, self._watches.endings != endings
                if ended and changes is not None:
                    changes = [change for change in changes if change.version <= self._watches.last_version]
                bookmarks = self._watches.bookmarks
            if changes is None:
                self._event("ERROR", status.expired(f"too old resource version: {self._version} ({self._store.compacted + 1})").body)
                return exchange.end_stream()
            for change in changes:
                self._send_change(change)
                self._version = max(self._version, change.version)
            now = time.monotonic()
            if self._may_bookmark and (ask or ended or now >= min(end, next_bookmark)):
                self._bookmark({})
                next_bookmark = now + BOOKMARK_PERIOD
            if ended or now >= end:
                return exchange.end_stream()
            if exchange.client_gone():
                return exchange.end()

    def _wait(self, until, bookmarks, endings):
        """Returns the changes to report; None if they are dropped. Also returns at least each second, to check the connection."""
        patience = min(until, time.monotonic() + 1)
        while True:
            changes = self._store.since(self._version)
            left = patience - time.monotonic()
            if changes is None or changes or left <= 0 or (bookmarks, endings) != (self._watches.bookmarks, self._watches.endings):
                return changes
            self._store.changed.wait(left)

    def _seconds(self):
        return int(self._query.get("timeoutSeconds") or 0) or random.uniform(1800, 3600)

    def _streaming_list(self):
        if self._query.get("sendInitialEvents") not in ("true", "1"):
            return False
        if self._query.get("resourceVersionMatch") != "NotOlderThan" or not self._may_bookmark:
            raise status.invalid(self._kind, "", "resourceVersionMatch", None,
                                 "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan and bookmarks")
        return True

    def _send_change(self, change):
        if change.kind is not self._kind:
            return
        before = change.before is not None and self._wanted(change.before)
        after = change.type != "DELETED" and self._wanted(change.object)
        if after:
            self._event("MODIFIED" if before else "ADDED", change.object)
        elif before:
            # If an object no longer matches, its last matching version is reported, with the version of the change.
            gone = change.before if change.type != "DELETED" else change.object
            metadata = {**gone["metadata"], "resourceVersion": str(change.version)}
            self._event("DELETED", {**gone, "metadata": metadata})

    def _bookmark(self, annotations):
        metadata = {"resourceVersion": str(self._version), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        self._event("BOOKMARK", {"kind": self._kind.name, "apiVersion": self._kind.api_version, "metadata": metadata})

    def _event(self, kind, obj):
        self._exchange.send_line({"type": kind, "object": obj})
