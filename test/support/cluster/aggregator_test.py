#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the aggregator of the test cluster with a service that answers with the request that it received."""
import http.server
import json
import os
import ssl
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import certificates, cluster_case  # noqa: E402

GROUP, VERSION = "metrics.example.com", "v1"
API = f"/apis/{GROUP}/{VERSION}"
SERVICE = {"service": "behind", "namespace": "kube-system"}


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the request; to /stream with one line per event of the test; to a path with "fail" with status 500,
    to a path with "unchanged" with 304."""
    protocol_version = "HTTP/1.1"
    events = None

    def _answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if "stream" in self.path:
            return self._stream()
        if "unchanged" in self.path:
            self.send_response(304)
            return self.end_headers()
        names = dict(part[0] for part in self.connection.getpeercert()["subject"])
        data = json.dumps({"method": self.command, "path": self.path, "body": body, "certificate": names["commonName"],
                           "headers": [[name.lower(), value] for name, value in self.headers.items()]}).encode()
        self.send_response(500 if "fail" in self.path else 200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Of-Service", "yes")
        self.end_headers()
        self.wfile.write(data)

    def _stream(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"7\r\n{\"a\":1}\r\n1\r\n\n\r\n")
        self.server.streams.append(self.connection)
        self.server.closed.set() if self.connection.recv(1) == b"" else None

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _answer

    def log_message(self, format, *args):
        pass


class AggregatorTest(cluster_case.ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pki = os.path.join(cls.folder.name, "service-pki")
        os.mkdir(pki)
        cls.authority = certificates.Authority(pki, "ca", "service-ca")
        certificate = cls.authority.sign("service", "/CN=service", "DNS:behind.kube-system.svc")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        context.load_verify_locations(os.path.join(cls.folder.name, "pki", "front-proxy-ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        cls.service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        cls.service.daemon_threads = True
        cls.service.streams, cls.service.closed = [], threading.Event()
        cls.service.socket = context.wrap_socket(cls.service.socket, server_side=True)
        threading.Thread(target=cls.service.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.service.shutdown()
        cls.service.server_close()
        super().tearDownClass()

    def setUp(self):
        self.control("register_api", group=GROUP, version=VERSION, ca_file=self.authority.certificate, **SERVICE)

    def tearDown(self):
        for kind in ("APIService", "EndpointSlice", "Service"):
            self.empty(kind)
        super().tearDown()

    def publish(self, ready=True, port_name="https"):
        self.control("put", object={
            "kind": "EndpointSlice", "metadata": {"name": "behind-leader", "namespace": "kube-system",
                                                  "labels": {"kubernetes.io/service-name": "behind"}}, "addressType": "IPv4",
            "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": ready}}],
            "ports": [{"name": port_name, "port": self.service.server_address[1]}]})

    def wait_for(self, reason):
        self.control("wait_for_object", kind="APIService", name=f"{VERSION}.{GROUP}", pointer="/status/conditions/0/reason", equals=reason)

    def headers(self, answer, name):
        return [value for header, value in answer.json["headers"] if header == name]

    def test_an_api_service_is_available_once_its_service_has_an_endpoint_that_answers(self):
        self.wait_for("EndpointsNotFound")
        self.assertEqual(self.get(API).status, 503)
        self.publish(ready=False)
        self.wait_for("MissingEndpoints")
        self.publish(port_name="other")
        self.wait_for("MissingEndpoints")
        self.publish()
        self.wait_for("Passed")
        self.assertEqual(self.get(API).status, 200)

    def test_the_service_gets_the_clients_identity_and_not_its_token(self):
        self.control("set_token", token="node-token", username="system:serviceaccount:a:b", uid="7", groups=["g"], login=True,
                     extra={"authentication.kubernetes.io/node-name": ["node-1"]})
        self.publish()
        self.wait_for("Passed")
        answer = self.ask("PUT", API + "/things/x?a=b%2Fc", {"x": 1},
                          headers={"Authorization": "Bearer node-token", "X-Remote-User": "forged", "X-Remote-Group": "system:masters"})
        self.assertEqual(answer.headers["X-Of-Service"], "yes")
        self.assertEqual(answer.json["certificate"], "front-proxy-client")
        self.assertEqual((answer.json["method"], answer.json["path"], answer.json["body"]), ("PUT", API + "/things/x?a=b%2Fc", '{"x": 1}'))
        self.assertEqual(self.headers(answer, "x-remote-user"), ["system:serviceaccount:a:b"])
        self.assertEqual(self.headers(answer, "x-remote-group"), ["g", "system:authenticated"])
        self.assertEqual(self.headers(answer, "x-remote-extra-authentication.kubernetes.io%2fnode-name"), ["node-1"])
        self.assertEqual(self.headers(answer, "authorization"), [])

    def test_an_unknown_token_is_refused_and_an_anonymous_client_too(self):
        self.publish()
        self.wait_for("Passed")
        self.assertEqual(self.get(API, headers={"Authorization": "Bearer unknown"}).status, 401)
        self.assertEqual(self.get(API, headers={}).status, 403)

    def test_an_answer_of_any_status_is_passed_back(self):
        self.publish()
        self.wait_for("Passed")
        self.assertEqual(self.get(API + "/fail").status, 500)

    def test_after_an_answer_without_a_body_the_connection_is_at_the_next_answer(self):
        self.publish()
        self.wait_for("Passed")
        connection = self.connect()
        for path, expected in (("/unchanged", 304), ("/things", 200)):
            connection.request("GET", API + path, headers=connection.token)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, expected)

    def test_a_watch_comes_line_by_line_and_ends_with_its_client(self):
        self.publish()
        self.wait_for("Passed")
        watch = self.watch(API + "/stream")
        self.assertEqual(watch.next(), {"a": 1})
        watch.close()
        self.assertTrue(self.service.closed.wait(cluster_case.LIMIT))

    def test_the_group_is_discovered_and_its_document_comes_from_the_service(self):
        self.publish()
        self.wait_for("Passed")
        self.assertIn(GROUP, [group["name"] for group in self.get("/apis").json["groups"]])
        self.assertEqual(self.get("/apis/" + GROUP).json["preferredVersion"]["version"], VERSION)
        path = self.get("/openapi/v3").json["paths"][API[1:]]["serverRelativeURL"]
        document = self.get(path)
        self.assertEqual(self.headers(document, "x-remote-user"), ["system:aggregator"])

    def test_the_settings_of_the_front_proxy_are_in_the_config_map(self):
        data = self.control("get", kind="ConfigMap", name="extension-apiserver-authentication", namespace="kube-system")["data"]
        self.assertIn("BEGIN CERTIFICATE", data["requestheader-client-ca-file"])
        self.assertEqual(json.loads(data["requestheader-allowed-names"]), ["front-proxy-client"])


if __name__ == "__main__":
    unittest.main()
