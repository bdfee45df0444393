# SPDX-License-Identifier: Apache-2.0
"""Base of the tests of the test cluster. The cluster runs as a process; tests send raw requests over TLS, as a client does."""
import gzip
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

SLO = "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
METRIC = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
PODS = "/api/v1/namespaces/shop/pods"
LIMIT = 60  # seconds; everything here takes much less


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT)
        self.sock.connect(self._path)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.text = response.status, response.headers, response.read()
        if self.headers.get("Content-Encoding") == "gzip":
            self.text = gzip.decompress(self.text)

    @property
    def json(self):
        return json.loads(self.text)


class Watch:
    """An open watch. next() returns one event."""

    def __init__(self, connection, path):
        self._connection = connection
        connection.request("GET", path, headers=connection.token)
        self.response = connection.getresponse()

    def next(self):
        line = self.response.readline()
        return json.loads(line) if line else None

    def short(self):
        event = self.next()
        return event and (event["type"], event["object"]["metadata"].get("name"), event["object"]["metadata"].get("resourceVersion"))

    def close(self):
        self._connection.close()


class ClusterCase(unittest.TestCase):
    OPTIONS = []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="koord-test-cluster-")
        here = os.path.dirname(os.path.abspath(__file__))
        cls.process = subprocess.Popen([sys.executable, os.path.join(here, "run"), "--folder", cls.folder.name, *cls.OPTIONS],
                                       stdout=subprocess.PIPE, text=True)
        text = ""
        while not text.endswith("}\n"):
            line = cls.process.stdout.readline()
            if not line:
                raise RuntimeError("the test cluster did not start")
            text += line
        cls.facts = json.loads(text)

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(LIMIT)
        cls.process.stdout.close()
        cls.folder.cleanup()

    def tearDown(self):
        self.control("clear_faults")

    def control(self, command, **arguments):
        connection = Unix(self.facts["control"])
        connection.request("POST", "/" + command, json.dumps(arguments))
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status != 200:
            raise AssertionError(f"{command}: {response.status} {text.decode()}")
        return json.loads(text)

    def token(self):
        with open(os.path.join(self.facts["service_account"], "token"), encoding="ascii") as file:
            return {"Authorization": "Bearer " + file.read()}

    def connect(self, server="api", certificate=None):
        ca = self.facts["kubelet_ca"] if server == "kubelet" else os.path.join(self.facts["service_account"], "ca.crt")
        context = ssl.create_default_context(cafile=ca)
        if certificate:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.facts[server + "_port"], timeout=LIMIT, context=context)
        connection.token = self.token()
        self.addCleanup(connection.close)
        return connection

    def ask(self, method, path, body=None, server="api", headers=None, content_type="application/json"):
        connection = self.connect(server)
        headers = {**connection.token, "Content-Type": content_type} if headers is None else headers
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return Answer(connection.getresponse())

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def watch(self, path):
        return Watch(self.connect(), path)

    def put_slo(self, name, **spec):
        return self.control("put", object={"kind": "NodeSLO", "metadata": {"name": name}, "spec": spec})

    def put_pod(self, name, node="test-node", labels=None, uid=None):
        metadata = {"name": name, "namespace": "shop", "labels": labels or {}}
        if uid:
            metadata["uid"] = uid
        return self.control("put", object={"kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": "Running"}})

    def version(self):
        return int(self.control("version")["resourceVersion"])

    def empty(self, kind):
        for obj in self.control("list", kind=kind):
            self.control("remove", kind=kind, name=obj["metadata"]["name"], namespace=obj["metadata"].get("namespace", ""))
