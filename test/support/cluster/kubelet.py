# SPDX-License-Identifier: Apache-2.0
"""The kubelet: serves its pods and its configuration to authorised clients."""
import threading

from . import exchange as exchanges, status

class Kubelet:
    def __init__(self, credentials):
        self._credentials = credentials
        self._mutex = threading.Lock()
        self._pods = []
        self._config = {"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "cgroupDriver": "systemd",
                        "cgroupRoot": "/", "cpuManagerPolicy": "none", "topologyManagerPolicy": "none",
                        "topologyManagerScope": "container", "port": 10250, "readOnlyPort": 0, "logging": {"format": "text"}}

    def set_pods(self, pods):
        with self._mutex:
            self._pods = pods

    def set_config(self, changes):
        with self._mutex:
            self._config = {**self._config, **changes}

    def serve(self, exchange):
        try:
            self._serve(exchange)
        except exchanges.Answered:
            pass
        except status.PlainRefusal as refusal:
            exchange.reply(refusal.code, refusal.text)

    def _serve(self, exchange):
        about = {"kind": "", "namespace": "", "name": "", "subresource": ""}
        verb = "get" if exchange.method == "GET" else exchange.method.lower()
        try:
            user, generation = self._credentials.user(exchange.headers.get("Authorization"), exchange.certificate())
        except status.Refusal as refusal:
            exchange.begin(verb, "", -1, **about)
            raise status.PlainRefusal(401, "Unauthorized") from refusal
        exchange.begin(verb, user, generation, **about)
        if exchange.fault("not_ready"):
            raise status.PlainRefusal(503, "kubelet is not ready")
        if rule := exchange.fault("error"):
            raise status.PlainRefusal(rule["code"], rule.get("message", "an error on purpose"))
        if rule := exchange.fault("too_many_requests"):
            return exchange.reply(429, "too many requests", {"Retry-After": str(rule.get("retry_after", 1))})
        if user == "system:anonymous":
            raise status.PlainRefusal(401, "Unauthorized")
        if exchange.fault("deny"):
            raise status.PlainRefusal(403, f"Forbidden (user={user}, verb=get, resource=nodes, subresource=proxy)")
        self._answer(exchange)

    def _answer(self, exchange):
        with self._mutex:
            pods, config = self._pods, self._config
        if exchange.path in ("/pods", "/pods/"):
            # A real kubelet without pods answers with "items": null.
            items = None if exchange.fault("empty") or not pods else pods
            return exchange.reply(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})
        if exchange.path == "/configz":
            return exchange.reply(200, {"kubeletconfig": config})
        if exchange.path == "/healthz":
            return exchange.reply(200, "ok")
        raise status.PlainRefusal(404, "404 page not found\n")
