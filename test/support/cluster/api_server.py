# SPDX-License-Identifier: Apache-2.0
"""The API server: requests, their authorisation, and the faults in their answers."""
from . import (aggregator, discovery, eviction, exchange as exchanges, kinds, pod_exec, resources, reviews, schemas, status, storage,
               watching)

_PUBLIC = ("/version", "/healthz", "/livez", "/readyz")


class ApiServer:
    def __init__(self, credentials, minor=30):
        self.minor = minor
        self.store = storage.Store()
        self.watches = watching.Watches(self.store)
        self.reviews = reviews.Reviews(credentials)
        self.aggregator = aggregator.Aggregator(self.store, credentials)
        self.graceful = False  # deleted pods stay until a client removes them
        self._credentials = credentials

    def serve(self, exchange):
        try:
            self._serve(exchange)
        except exchanges.Answered:
            pass
        except status.PlainRefusal as refusal:
            exchange.reply(refusal.code, refusal.text)
        except status.Refusal as refusal:
            exchange.reply(refusal.code, refusal.body, refusal.headers)

    def _serve(self, exchange):
        address = Address(exchange)
        try:
            user, generation = self._credentials.user(exchange.headers.get("Authorization"), exchange.certificate())
            identity = self._credentials.identity(user, exchange.certificate())
        except status.Refusal:
            identity = self.reviews.login(exchange.headers.get("Authorization"))
            if identity is None:
                exchange.begin(address.verb, "", -1, **address.about)
                raise
            user, generation = identity["username"], 0
        exchange.begin(address.verb, user, generation, **address.about)
        if exchange.fault("not_ready"):
            return exchange.reply(503, "apiserver not ready", {"Retry-After": "1"})
        self._fail_on_purpose(exchange)
        anonymous = user == "system:anonymous"
        missing = [kind.name for kind in kinds.KINDS if exchange.missing(kind.name)]
        if address.review:
            if anonymous or address.verb != "create" or exchange.fault("deny"):
                raise status.Refusal(403, "Forbidden", f'{address.review.lower()}s is forbidden: User "{user}" cannot {address.verb} it')
            return exchange.reply(201, self.reviews.review(address.review, exchange.body()))
        if service := self.aggregator.service_for(exchange.path):
            return self._pass_on(exchange, service, identity)
        if address.kind is None:
            if anonymous and exchange.path not in _PUBLIC:
                raise status.Refusal(403, "Forbidden", f'forbidden: User "{user}" cannot get path "{exchange.path}"')
            groups = [(service["spec"]["group"], service["spec"]["version"]) for service in self.aggregator.services()]
            answer = discovery.answer(exchange.path, self.minor, missing, groups)
            if answer is None:
                raise status.PlainRefusal(404, "404 page not found\n")
            return exchange.reply(200, answer)
        if anonymous or exchange.fault("deny"):
            raise status.forbidden(address.kind, address.name, user, address.verb, address.namespace)
        if address.kind.name in missing:
            raise status.PlainRefusal(404, "404 page not found\n")
        self._answer(exchange, address)

    def _pass_on(self, exchange, service, identity):
        if identity["username"] == "system:anonymous":
            raise status.Refusal(403, "Forbidden", f'forbidden: User "system:anonymous" cannot get path "{exchange.path}"')
        if not exchange.path.startswith("/openapi/"):
            return self.aggregator.serve(service, exchange, identity)
        document = self.aggregator.document(exchange.path, aggregator.OPENAPI)
        if document is None:
            raise status.PlainRefusal(404, "404 page not found\n")
        return exchange.reply(200, document)

    @staticmethod
    def _fail_on_purpose(exchange):
        if rule := exchange.fault("too_many_requests"):
            raise status.too_many_requests(rule.get("retry_after", 1))
        if rule := exchange.fault("error"):
            seconds = rule.get("retry_after")
            raise status.Refusal(rule["code"], rule.get("reason", "InternalError"), rule.get("message", "an error on purpose"), {},
                                 {"Retry-After": str(seconds)} if seconds is not None else None)

    def _answer(self, exchange, address):
        kind, namespace, name, query = address.kind, address.namespace, address.name, exchange.query
        verb = address.verb
        if address.subresource == "exec":
            return pod_exec.serve(exchange, resources.get(self.store, kind, namespace, name, {}))
        if verb == "watch":
            return self._watch(exchange, address)
        if verb == "list":
            answer = resources.list_all(self.store, kind, namespace, query)
            if exchange.fault("empty"):
                answer["items"] = []
            return exchange.reply(200, answer)
        if verb == "get":
            return exchange.reply(200, resources.get(self.store, kind, namespace, name, query))
        body = exchange.body()
        if rule := exchange.fault("refuse"):
            schemas.refuse(kind, name or body.get("metadata", {}).get("name", ""), body, rule["fields"])
        if verb == "create":
            if address.subresource == "eviction":
                return exchange.reply(201, eviction.evict(self.store, namespace, name, body, self.minor, self.graceful))
            return exchange.reply(201, resources.create(self.store, kind, namespace, body))
        if verb in ("update", "patch") and exchange.fault("conflict"):
            self._touch(kind, namespace, name)
        if verb == "update":
            return exchange.reply(200, resources.update(self.store, kind, namespace, name, address.subresource, body))
        if verb == "patch":
            content_type = exchange.headers.get("Content-Type", "").partition(";")[0]
            return exchange.reply(200, resources.patch(self.store, kind, namespace, name, address.subresource, content_type, body))
        return exchange.reply(200, resources.delete(self.store, kind, namespace, name, body, self.graceful))

    def _watch(self, exchange, address):
        if rule := exchange.fault("gone"):
            too_old = status.expired("too old resource version: on purpose")
            if rule.get("as") == "status":
                raise too_old
            exchange.begin_stream()
            exchange.send_line({"type": "ERROR", "object": too_old.body})
            return exchange.end_stream()
        query = exchange.query
        if address.name:
            query = {**query, "fieldSelector": f"metadata.name={address.name}"}
        watching.Watch(self.store, self.watches, address.kind, address.namespace, query, exchange).run()

    def _touch(self, kind, namespace, name):
        """Lets a different client write the object first."""
        with self.store.changed:
            before = self.store.need(kind, namespace, name)
            annotations = before["metadata"].get("annotations") or {}
            touched = {**annotations, "koord-test/touched": str(self.store.version)}
            self.store.replace(kind, {**before, "metadata": {**before["metadata"], "annotations": touched}})


class Address:
    """The target of a request: kind, namespace, name, subresource, and its verb in the words of RBAC."""

    def __init__(self, exchange):
        self.kind, self.namespace, self.name, self.subresource = None, "", "", ""
        parts = [part for part in exchange.path.split("/") if part]
        if parts[:1] == ["api"] and len(parts) > 2:
            self._resource("", parts[1], parts[2:])
        elif parts[:1] == ["apis"] and len(parts) > 3:
            self._resource(parts[1], parts[2], parts[3:])
        self.review = reviews.kind_at(exchange.path)
        self.verb = self._verb(exchange)
        self.about = {"kind": self.kind.name if self.kind else self.review or "", "namespace": self.namespace, "name": self.name,
                      "subresource": self.subresource}

    def _resource(self, group, version, rest):
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        kind = kinds.find(group, version, rest[0])
        subresource = rest[2] if len(rest) > 2 else ""
        if kind is None or len(rest) > 3 or (namespace != "" and not kind.namespaced) or not _has(kind, subresource):
            return
        self.kind, self.namespace, self.subresource = kind, namespace, subresource
        self.name = rest[1] if len(rest) > 1 else ""

    def _verb(self, exchange):
        if exchange.method == "GET":
            if exchange.query.get("watch") in ("true", "1"):
                return "watch"
            return "list" if self.kind and not self.name else "get"
        return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[exchange.method]


def _has(kind, subresource):
    return subresource == "" or (subresource == "status" and kind.status) or (subresource in ("eviction", "exec") and kind.name == "Pod")
