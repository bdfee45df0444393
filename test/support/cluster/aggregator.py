# SPDX-License-Identifier: Apache-2.0
"""The aggregator in front of the API server: passes requests for the group version of an APIService to its service over TLS, with
the front proxy's certificate and in the name of the client."""
import base64
import concurrent.futures
import http.client
import json
import os
import socket
import ssl
import threading

from . import exchange as exchanges, kinds, status

CONFIG_MAP = ("kube-system", "extension-apiserver-authentication")
_PROBES, _PROBE_SECONDS, _PERIOD = 5, 5, 30
_NOT_PASSED_ON = ("authorization", "connection", "host", "transfer-encoding", "content-length", "keep-alive", "te", "upgrade")
_NOT_PASSED_BACK = ("connection", "transfer-encoding", "content-length", "keep-alive", "date", "server")
ITSELF = {"username": "system:kube-aggregator", "groups": ["system:masters"]}
OPENAPI = {"username": "system:aggregator", "groups": ["system:masters"]}


class Unavailable(Exception):
    """No endpoint is available. Has the reason and the message of the APIService's condition."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


class Aggregator:
    def __init__(self, store, credentials):
        self._store, self._credentials = store, credentials
        threading.Thread(target=self._follow, daemon=True).start()

    def services(self):
        """Returns the APIServices that name a service."""
        return [service for service in self._store.all(kinds.BY_NAME["APIService"]) if service["spec"].get("service")]

    def service_for(self, path):
        """Returns the APIService for this path; None: the API server answers itself."""
        parts = path.strip("/").split("/")
        if parts[:2] == ["openapi", "v3"] and parts[2:3] == ["apis"]:
            parts = parts[2:]
        if len(parts) < 3 or parts[0] != "apis":
            return None
        for service in self.services():
            if (service["spec"]["group"], service["spec"]["version"]) == (parts[1], parts[2]):
                return service
        return None

    def serve(self, service, exchange, user):
        """Passes the request on, and the answer back as it arrives."""
        if not _is_available(service):
            raise status.PlainRefusal(503, "service unavailable\n")
        try:
            connection = self._connect(service, timeout=3600)
            connection.connect()
            raw = connection.sock
            connection.request(exchange.method, exchange.target, exchange.raw_body() or None, self._headers(exchange.headers, user))
            answer = connection.getresponse()
        except (Unavailable, OSError, http.client.HTTPException) as error:
            raise status.PlainRefusal(503, f"error trying to reach service: {error}\n") from error
        with answer:
            headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _NOT_PASSED_BACK]
            if answer.status in (204, 304):
                connection.close()
                exchange.pass_without_body(answer.status, headers)
                return
            exchange.begin_passing(answer.status, headers)
            ended = threading.Event()
            threading.Thread(target=_end_with_client, args=(exchange, raw, ended), daemon=True).start()
            try:
                while piece := answer.read1(65536):
                    exchange.pass_piece(piece)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise exchanges.Broken("the service broke off") from error
            finally:
                ended.set()
                connection.close()
            exchange.end_stream()

    def document(self, path, user):
        """Returns the answer of this path's service to the aggregator itself; None if there is no answer."""
        try:
            return self._ask(self.service_for(path), path, user)
        except (Unavailable, OSError, http.client.HTTPException):
            return None

    def _ask(self, service, path, user):
        connection = self._connect(service, timeout=_PROBE_SECONDS)
        try:
            connection.request("GET", path, headers=self._headers({"Accept": "application/json"}, user))
            answer = connection.getresponse()
            text = answer.read()
            return json.loads(text) if 200 <= answer.status < 300 else None
        finally:
            connection.close()

    def _connect(self, service, timeout):
        spec = service["spec"]["service"]
        address, port = self._endpoint(service)
        context = ssl.create_default_context(cadata=base64.b64decode(service["spec"]["caBundle"]).decode())
        context.load_cert_chain(*self._credentials.front_proxy_certificate())
        return _Connection(address, port, f"{spec['name']}.{spec['namespace']}.svc", context, timeout)

    def _endpoint(self, service):
        """Returns the address and port of a ready endpoint of the service's port."""
        spec = service["spec"]["service"]
        where = f"service/{spec['name']} in \"{spec['namespace']}\""
        found = self._store.get(kinds.BY_NAME["Service"], spec["namespace"], spec["name"])
        if found is None:
            raise Unavailable("ServiceNotFound", f"{where} is not present")
        wanted = spec.get("port", 443)
        names = [port.get("name", "") for port in found["spec"].get("ports", []) if port["port"] == wanted]
        if not names:
            raise Unavailable("ServicePortError", f"{where} is not listening on port {wanted}")
        slices = [one for one in self._store.all(kinds.BY_NAME["EndpointSlice"])
                  if one["metadata"]["namespace"] == spec["namespace"]
                  and one["metadata"].get("labels", {}).get("kubernetes.io/service-name") == spec["name"]]
        if not slices:
            raise Unavailable("EndpointsNotFound", f"cannot find endpointslices for {where}")
        for one in slices:
            ports = [port["port"] for port in one.get("ports", []) if port.get("name", "") == names[0]]
            ready = [endpoint for endpoint in one.get("endpoints") or [] if endpoint.get("conditions", {}).get("ready", True)]
            if ports and ready:
                return ready[0]["addresses"][0], ports[0]
        raise Unavailable("MissingEndpoints", f"endpointslices for {where} have no addresses with port name \"{names[0]}\"")

    @staticmethod
    def _headers(headers, user):
        """Returns the client's headers without its credentials but with its identity, as a list because groups repeat."""
        passed = [(name, value) for name, value in headers.items()
                  if name.lower() not in _NOT_PASSED_ON and not name.lower().startswith("x-remote-")]
        passed.append(("X-Remote-User", user["username"]))
        if user.get("uid"):
            passed.append(("X-Remote-Uid", user["uid"]))
        passed += [("X-Remote-Group", group) for group in user.get("groups", [])]
        for key, values in user.get("extra", {}).items():
            passed += [("X-Remote-Extra-" + key.replace("%", "%25").replace("/", "%2F"), value) for value in values]
        return passed

    def _follow(self):
        """Checks all APIServices when an object on which their availability depends changes, and periodically."""
        seen = None
        while True:
            with self._store.changed:
                self._store.changed.wait_for(lambda: self._state() != seen, _PERIOD)
                seen = self._state()
            for service in self.services():
                self._check(service)

    def _state(self):
        """Returns everything that decides whether an APIService is available, without its own status."""
        specs = [(service["metadata"]["uid"], service["spec"]) for service in self.services()]
        versions = [one["metadata"]["resourceVersion"] for kind in ("Service", "EndpointSlice") for one in self._store.all(kinds.BY_NAME[kind])]
        return specs, versions

    def _check(self, service):
        try:
            self._endpoint(service)
            path = f"/apis/{service['spec']['group']}/{service['spec']['version']}"
            with concurrent.futures.ThreadPoolExecutor(_PROBES) as probes:
                if not any(probes.map(lambda _: self._probe(service, path), range(_PROBES))):
                    raise Unavailable("FailedDiscoveryCheck", f"failing or missing response from {path}")
            condition = {"type": "Available", "status": "True", "reason": "Passed", "message": "all checks passed"}
        except Unavailable as error:
            condition = {"type": "Available", "status": "False", "reason": error.reason, "message": str(error)}
        self._set_condition(service, condition)

    def _probe(self, service, path):
        try:
            return self._ask(service, path, ITSELF) is not None
        except (Unavailable, OSError, ValueError, http.client.HTTPException):
            return False

    def _set_condition(self, service, condition):
        kind = kinds.BY_NAME["APIService"]
        with self._store.changed:
            now = self._store.get(kind, "", service["metadata"]["name"])
            if now is not None and (now.get("status") or {}).get("conditions") != [condition]:
                self._store.replace(kind, {**now, "status": {"conditions": [condition]}})


class _Connection(http.client.HTTPSConnection):
    """Sends a request to an address that has a certificate for some name. Headers are a list because one may repeat."""

    def __init__(self, address, port, name, context, timeout):
        super().__init__(address, port, timeout=timeout, context=context)
        self._name, self._tls = name, context

    def connect(self):
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)

    def request(self, method, url, body=None, headers=()):
        self.putrequest(method, url, skip_accept_encoding=True)
        for name, value in headers:
            self.putheader(name, value)
        if body is not None or method in ("POST", "PUT", "PATCH"):
            self.putheader("Content-Length", str(len(body or b"")))
        self.endheaders(body)


def _end_with_client(exchange, raw, ended):
    """Ends a watch when its client is gone; a watch without events would not notice it."""
    while not ended.wait(0.2):
        if exchange.client_gone():
            try:
                raw.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            return


def _is_available(service):
    conditions = (service.get("status") or {}).get("conditions") or []
    return any(condition["type"] == "Available" and condition["status"] == "True" for condition in conditions)


def authentication_settings(credentials):
    """ConfigMap kube-system/extension-apiserver-authentication."""
    def text(path):
        with open(path, encoding="ascii") as file:
            return file.read()
    namespace, name = CONFIG_MAP
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}, "data": {
        "client-ca-file": text(credentials.client_authority()),
        "requestheader-client-ca-file": text(credentials.front_proxy_authority()),
        "requestheader-allowed-names": json.dumps([os.path.splitext(os.path.basename(credentials.front_proxy_certificate()[0]))[0]]),
        "requestheader-username-headers": '["X-Remote-User"]', "requestheader-uid-headers": '["X-Remote-Uid"]',
        "requestheader-group-headers": '["X-Remote-Group"]', "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]'}}
