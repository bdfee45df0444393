# SPDX-License-Identifier: Apache-2.0
"""The API server, the kubelet and their clients, in one folder; the control endpoint commands them."""
import base64
import os

from . import aggregator, connections, control, kinds, patches, storage
from .api_server import ApiServer
from .credentials import Credentials
from .faults import Faults, KNOWN
from .kubelet import Kubelet
from .request_log import RequestLog

_MISSING = object()


class Cluster:
    def __init__(self, folder, node_name, minor=30, api_port=0, kubelet_port=0):
        self.folder, self.node_name = folder, node_name
        self._credentials = Credentials(folder, node_name)
        self._faults, self._log = Faults(), RequestLog()
        self._api = ApiServer(self._credentials, minor)
        self._kubelet = Kubelet(self._credentials)
        self._listeners = {
            "api": connections.Listener("api", self._credentials, self._faults, self._log, self._api.serve, api_port),
            "kubelet": connections.Listener("kubelet", self._credentials, self._faults, self._log, self._kubelet.serve, kubelet_port)}
        self._credentials.write_kubeconfigs(self._listeners["api"].port)
        self._put_node()
        self.put(aggregator.authentication_settings(self._credentials))
        credentials, watches = self._credentials, self._api.watches
        # Actions by name that take effect immediately and permanently. Each takes its arguments by name.
        self._events = {
            "compact": self._api.store.compact, "bookmark": watches.send_bookmarks, "end_watches": watches.end_all,
            "expire_tokens": credentials.expire_tokens, "rotate_token": credentials.rotate_token,
            "write_token": credentials.write_token, "replace_ca": credentials.replace_ca,
            "renew_serving_certificates": credentials.renew_serving_certificates,
            "rotate_client_certificate": credentials.rotate_client_certificate, "disconnect": self._disconnect,
            "graceful_deletion": self._set_graceful}

    def facts(self):
        """The addresses and files that a client needs."""
        return {"api_port": self._listeners["api"].port, "kubelet_port": self._listeners["kubelet"].port,
                "kubeconfig": os.path.join(self.folder, "kubeconfig"),
                "kubeconfig_certificate": os.path.join(self.folder, "kubeconfig-certificate"),
                "service_account": self._credentials.service_account, "node": self.node_name,
                "kubelet_ca": os.path.join(self.folder, "pki", "kubelet-ca.pem"),
                "front_proxy": list(self._credentials.front_proxy_certificate())}

    # Each public function below is a command of the control endpoint: it takes arguments by name and returns the answer.

    def put(self, object):
        """Stores the object unchanged, with its status; ignores the object's resourceVersion."""
        kind = kinds.named(object["kind"])
        store = self._api.store
        metadata = dict(object["metadata"])
        metadata.pop("resourceVersion", None)
        if kind.namespaced:
            metadata.setdefault("namespace", "default")
        object = {**object, "metadata": metadata}
        with store.changed:
            known = store.get(kind, *storage.key_of(object)) is not None
            return store.replace(kind, object) if known else store.create(kind, object)

    def merge(self, kind, name, patch, namespace=""):
        """Applies a merge patch to the whole object, including its status."""
        with self._api.store.changed:
            return self.put(patches.merge(self._api.store.need(*_place(kind, namespace), name), patch))

    def get(self, kind, name, namespace=""):
        return self._api.store.get(*_place(kind, namespace), name)

    def list(self, kind):
        return self._api.store.all(kinds.named(kind))

    def remove(self, kind, name, namespace=""):
        return self._api.store.remove(*_place(kind, namespace), name)

    def version(self):
        return {"resourceVersion": str(self._api.store.version)}

    def set_pods(self, items):
        self._kubelet.set_pods(items)

    def set_kubelet_config(self, config):
        self._kubelet.set_config(config)

    def fault(self, fault, **arguments):
        if fault in self._events:
            return self._events[fault](**arguments)
        if fault not in KNOWN:
            raise ValueError(f"unknown fault '{fault}', expected one of {', '.join([*KNOWN, *self._events])}")
        self._faults.add(fault, arguments)
        return self._raise_and_lower()

    def clear_faults(self, fault=None):
        self._faults.clear(fault)
        self._raise_and_lower()

    def set_token(self, **user):
        self._api.reviews.set_token(**user)

    def remove_token(self, token):
        self._api.reviews.remove_token(token)

    def register_api(self, group, version, namespace, service, ca_file, port=443):
        """Creates a Service without a selector and the APIService that names it."""
        with open(ca_file, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        self.put({"kind": "Service", "apiVersion": "v1", "metadata": {"name": service, "namespace": namespace},
                  "spec": {"ports": [{"name": "https", "port": port, "protocol": "TCP"}]}})
        return self.put({"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "metadata": {"name": f"{version}.{group}"}, "spec": {
            "group": group, "version": version, "caBundle": bundle, "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": service, "namespace": namespace, "port": port}}})

    def allow(self, **rule):
        self._api.reviews.allow(**rule)

    def forbid_all(self):
        self._api.reviews.forbid_all()

    def requests(self, **wanted):
        return self._log.entries(wanted)

    def wait_for_requests(self, seconds=60, **wanted):
        """Returns the first `count` requests that match; fails if they do not arrive in time."""
        found = self._log.wait(wanted, seconds)
        if len(found) < wanted.get("count", 1):
            raise TimeoutError(f"{len(found)} requests like {wanted} within {seconds} s")
        return found

    def wait_for_object(self, kind, name, namespace="", pointer="", seconds=60, **condition):
        """Waits until the value at the JSON pointer `equals` a value, `differs` from one, or `exists` (true or false).
        If no condition is given, waits until the object exists. Returns the object."""
        if len(condition) > 1 or not set(condition) <= {"equals", "differs", "exists"}:
            raise ValueError(f"one condition of equals, differs and exists, found {', '.join(condition)}")
        store, place = self._api.store, (*_place(kind, namespace), name)
        seen = []
        def holds():
            seen[:] = [store.get(*place)]
            return _holds(_value_at(seen[0], pointer), condition)
        with store.changed:
            if not store.changed.wait_for(holds, seconds):
                raise TimeoutError(f"{kind} {name}: {pointer} {condition} not within {seconds} s, it is {seen[0]}")
        return seen[0]

    def _set_graceful(self, on=True):
        self._api.graceful = on

    def _disconnect(self, server="both"):
        for name, listener in self._listeners.items():
            if server in ("both", name):
                listener.disconnect()

    def _raise_and_lower(self):
        for name, listener in self._listeners.items():
            (listener.go_down if self._faults.is_down(name) else listener.go_up)()

    def _put_node(self):
        resources = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        self.put({"kind": "Node", "apiVersion": "v1", "metadata": {"name": self.node_name, "labels": {
            "kubernetes.io/hostname": self.node_name, "kubernetes.io/os": "linux"}}, "spec": {}, "status": {
                "capacity": resources, "allocatable": resources,
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": self.node_name}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": self._listeners["kubelet"].port}},
                "nodeInfo": {"kubeletVersion": f"v1.{self._api.minor}.0"}}})


def _place(kind, namespace):
    found = kinds.named(kind)
    return found, (namespace or "default") if found.namespaced else ""


def _value_at(obj, pointer):
    if obj is None:
        return _MISSING
    try:
        return patches.resolve(obj, pointer)
    except ValueError:
        return _MISSING


def _holds(value, condition):
    if "equals" in condition:
        return value == condition["equals"]
    if "differs" in condition:
        return value is not _MISSING and value != condition["differs"]
    return (value is not _MISSING) == condition.get("exists", True)


def start(folder, **options):
    """Runs a cluster with its control socket in the folder. Returns its facts."""
    cluster = Cluster(folder, **options)
    facts = cluster.facts()
    facts["control"] = control.start(os.path.join(folder, "control.sock"), cluster)
    return facts
