#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a client sees of the test cluster, asked as a client asks: over TLS, with raw requests."""
import gzip
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

SLO = "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
METRIC = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
PODS = "/api/v1/namespaces/shop/pods"
LIMIT = 60  # seconds; nothing here takes a fraction of it


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
    """An open watch; next() is one event."""

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


class Credentials(ClusterCase):
    def test_an_unknown_token_is_401_and_none_at_all_is_403(self):
        self.assertEqual(self.get("/api/v1/nodes", headers={"Authorization": "Bearer x"}).status, 401)
        self.assertEqual(self.get("/api/v1/nodes", headers={}).status, 403)
        self.assertEqual(self.get("/version", headers={}).status, 200)
        self.assertEqual(self.get("/pods", server="kubelet", headers={}).status, 401)

    def test_a_rotated_token_replaces_the_file_in_one_step_and_the_old_one_is_refused(self):
        old = self.token()
        self.control("fault", fault="rotate_token")
        new = self.token()
        self.assertNotEqual(old, new)
        self.assertEqual(self.get("/api/v1/nodes", headers=old).status, 401)
        self.assertEqual(self.get("/api/v1/nodes", headers=new).status, 200)
        self.assertEqual(self.get("/pods", server="kubelet", headers=old).status, 401)
        self.assertTrue(os.path.islink(os.path.join(self.facts["service_account"], "..data")))

    def test_expired_tokens_are_refused_until_there_is_another(self):
        self.control("fault", fault="expire_tokens")
        self.assertEqual(self.get("/api/v1/nodes").status, 401)
        self.control("fault", fault="rotate_token", keep_old=True)
        self.assertEqual(self.get("/api/v1/nodes").status, 200)

    def test_a_client_certificate_is_who_it_names_until_it_is_replaced(self):
        pki = os.path.join(self.folder.name, "pki")
        certificate = (os.path.join(pki, "client.pem"), os.path.join(pki, "client.key"))
        connection = self.connect(certificate=certificate)
        connection.request("GET", "/api/v1/nodes")
        self.assertEqual(Answer(connection.getresponse()).status, 200)
        self.control("fault", fault="rotate_client_certificate")
        connection.request("GET", "/api/v1/nodes")
        self.assertEqual(Answer(connection.getresponse()).status, 401)

    def test_a_replaced_ca_is_no_longer_believed(self):
        before = self.connect()
        before.request("GET", "/version")
        Answer(before.getresponse()).json  # pylint: disable=expression-not-assigned
        before.close()
        self.control("fault", fault="replace_ca")
        with self.assertRaises(ssl.SSLCertVerificationError):
            before.request("GET", "/version")
        self.assertEqual(self.get("/version").status, 200)
        self.assertEqual(self.get("/healthz", server="kubelet").status, 200)

    def test_the_kubelet_may_have_an_authority_of_its_own(self):
        self.control("fault", fault="replace_ca", kubelet_apart=True)
        self.assertEqual(self.get("/healthz", server="kubelet").status, 200)
        context = ssl.create_default_context(cafile=os.path.join(self.facts["service_account"], "ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.facts["kubelet_port"], timeout=LIMIT, context=context)
        with self.assertRaises(ssl.SSLCertVerificationError):
            connection.request("GET", "/healthz")


class Versions(ClusterCase):
    def test_each_write_has_a_larger_version_than_all_before_it(self):
        first = int(self.put_slo("a", x=1)["metadata"]["resourceVersion"])
        self.put_pod("p")
        second = int(self.put_slo("a", x=2)["metadata"]["resourceVersion"])
        self.assertEqual(second, first + 2)

    def test_a_write_without_a_difference_has_no_version(self):
        first = self.put_slo("a", x=3)
        self.assertEqual(self.put_slo("a", x=3), first)

    def test_a_read_not_older_than_a_version_to_come_is_504(self):
        path = f"/api/v1/nodes?resourceVersion={self.version() + 1}"
        answer = self.get(path)
        self.assertEqual(answer.status, 504)
        self.assertEqual(answer.json["details"]["causes"][0]["reason"], "ResourceVersionTooLarge")
        for version in ("", "0", str(self.version())):
            self.assertEqual(self.get("/api/v1/nodes?resourceVersion=" + version).status, 200)
        self.assertEqual(self.get("/api/v1/nodes?resourceVersion=x").status, 400)

    def test_pages_show_one_moment_and_go_on_after_writes(self):
        self.empty("Pod")
        for name in "abcde":
            self.put_pod(name)
        version = self.version()
        first = self.get("/api/v1/pods?limit=2").json
        self.assertEqual(first["metadata"]["remainingItemCount"], 3)
        self.control("remove", kind="Pod", name="c", namespace="shop")
        names, page = [], first
        while True:
            names += [item["metadata"]["name"] for item in page["items"]]
            self.assertEqual(page["metadata"]["resourceVersion"], str(version))
            if "continue" not in page["metadata"]:
                break
            page = self.get("/api/v1/pods?limit=2&continue=" + page["metadata"]["continue"]).json
        self.assertEqual(names, list("abcde"))
        self.assertEqual(len(self.get("/api/v1/pods?limit=2&resourceVersion=0").json["items"]), 4)

    def test_a_page_of_a_dropped_history_is_410(self):
        for name in "ab":
            self.put_pod(name)
        token = self.get("/api/v1/pods?limit=1").json["metadata"]["continue"]
        self.control("fault", fault="compact")
        answer = self.get("/api/v1/pods?limit=1&continue=" + token)
        self.assertEqual((answer.status, answer.json["reason"]), (410, "Expired"))
        self.assertEqual(self.get("/api/v1/pods?continue=nonsense").status, 400)

    def test_selectors_choose_by_label_and_field(self):
        self.empty("Pod")
        self.put_pod("here", labels={"app": "web", "tier": "1"})
        self.put_pod("there", node="other", labels={"app": "web"})
        def names(selector):
            return [item["metadata"]["name"] for item in self.get("/api/v1/pods?" + selector).json["items"]]
        self.assertEqual(names("fieldSelector=spec.nodeName%3Dtest-node"), ["here"])
        self.assertEqual(names("fieldSelector=metadata.name!%3Dhere"), ["there"])
        self.assertEqual(names("labelSelector=app%3Dweb,!tier"), ["there"])
        self.assertEqual(names("labelSelector=tier+in+(1,2)"), ["here"])
        self.assertEqual(names("labelSelector=app,tier+notin+(1)"), ["there"])
        self.assertEqual(self.get("/api/v1/pods?fieldSelector=spec.hostNetwork%3Dtrue").status, 400)


class Watches(ClusterCase):
    def test_a_watch_from_a_version_tells_what_came_after_it(self):
        self.empty("NodeSLO")
        version = self.version()
        self.put_slo("a", x=1)
        watch = self.watch(f"{SLO}?watch=true&resourceVersion={version}")
        self.put_slo("a", x=2)
        self.put_pod("unrelated")
        self.control("remove", kind="NodeSLO", name="a")
        self.assertEqual(watch.short(), ("ADDED", "a", str(version + 1)))
        self.assertEqual(watch.short(), ("MODIFIED", "a", str(version + 2)))
        self.assertEqual(watch.short(), ("DELETED", "a", str(version + 4)))

    def test_a_watch_without_a_version_begins_with_what_there_is(self):
        self.empty("NodeSLO")
        self.put_slo("a")
        for version in ("", "0"):
            watch = self.watch(f"{SLO}?watch=1&resourceVersion={version}")
            self.assertEqual(watch.short()[:2], ("ADDED", "a"))

    def test_a_watch_of_one_name_tells_of_no_other(self):
        self.empty("NodeSLO")
        watch = self.watch(f"{SLO}?watch=true&fieldSelector=metadata.name%3Db&resourceVersion={self.version()}")
        self.put_slo("a")
        self.put_slo("b")
        self.assertEqual(watch.short()[:2], ("ADDED", "b"))

    def test_what_no_longer_matches_is_deleted_to_the_watch_and_what_begins_to_is_added(self):
        self.empty("Pod")
        watch = self.watch(f"/api/v1/pods?watch=true&labelSelector=on&resourceVersion={self.version()}")
        self.put_pod("p")
        self.put_pod("p", labels={"on": "1"})
        self.put_pod("p", labels={"off": "1"})
        self.assertEqual(watch.short()[:2], ("ADDED", "p"))
        gone = watch.next()
        self.assertEqual((gone["type"], gone["object"]["metadata"]["labels"]), ("DELETED", {"on": "1"}))
        self.assertEqual(gone["object"]["metadata"]["resourceVersion"], str(self.version()))

    def test_a_version_whose_history_is_dropped_is_an_error_event_of_410(self):
        version = self.version()
        self.put_slo("a", y=version)
        self.control("fault", fault="compact")
        watch = self.watch(f"{SLO}?watch=true&resourceVersion={version}")
        event = watch.next()
        self.assertEqual((event["type"], event["object"]["code"], event["object"]["reason"]), ("ERROR", 410, "Expired"))
        self.assertIsNone(watch.next())

    def test_a_watch_that_has_seen_all_survives_a_compaction(self):
        watch = self.watch(f"{SLO}?watch=true&resourceVersion={self.version()}")
        self.control("fault", fault="compact")
        self.put_slo("after")
        self.assertEqual(watch.short()[:2], ("ADDED", "after"))

    def test_gone_is_a_status_or_an_event(self):
        self.control("fault", fault="gone", kind="NodeSLO", count=1)
        self.assertEqual(self.watch(f"{SLO}?watch=true").next()["object"]["code"], 410)
        self.control("fault", fault="gone", **{"as": "status"})
        self.assertEqual(self.get(f"{SLO}?watch=true").status, 410)

    def test_bookmarks_come_to_whom_allows_them(self):
        watch = self.watch(f"{SLO}?watch=true&allowWatchBookmarks=true&resourceVersion={self.version()}")
        self.put_pod("moves-the-version", uid="u")
        self.control("fault", fault="bookmark")
        event = watch.next()
        self.assertEqual((event["type"], event["object"]["kind"]), ("BOOKMARK", "NodeSLO"))
        self.assertNotIn("spec", event["object"])

    def test_a_watch_ends_in_order_after_its_time_with_a_bookmark(self):
        watch = self.watch(f"{SLO}?watch=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={self.version()}")
        self.assertEqual(watch.next()["type"], "BOOKMARK")
        self.assertIsNone(watch.next())

    def test_a_streamed_list_ends_with_a_marked_bookmark_and_needs_its_parameters(self):
        self.empty("NodeSLO")
        self.put_slo("a")
        all_of_it = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        watch = self.watch(f"{SLO}?{all_of_it}")
        self.assertEqual(watch.short()[:2], ("ADDED", "a"))
        self.assertEqual(watch.next()["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})
        self.assertEqual(self.get(f"{SLO}?watch=true&sendInitialEvents=true").status, 422)


class Writes(ClusterCase):
    def setUp(self):
        self.empty("NodeMetric")

    def create(self, **more):
        return self.ask("POST", METRIC, {"metadata": {"name": "n"}, **more})

    def test_create_sets_what_the_server_sets_and_drops_the_status(self):
        answer = self.create(status={"updateTime": "2026-01-01T00:00:00Z"})
        self.assertEqual(answer.status, 201)
        obj = answer.json
        self.assertNotIn("status", obj)
        self.assertEqual((obj["kind"], obj["apiVersion"], obj["metadata"]["generation"]), ("NodeMetric", "slo.koordinator.sh/v1alpha1", 1))
        self.assertTrue(obj["metadata"]["uid"] and obj["metadata"]["creationTimestamp"] and obj["metadata"]["resourceVersion"])
        self.assertEqual((self.create().status, self.create().json["reason"]), (409, "AlreadyExists"))
        self.assertEqual(self.ask("POST", METRIC, {"metadata": {}}).status, 422)

    def test_each_of_main_and_status_leaves_the_other(self):
        obj = self.create(spec={"metricCollectPolicy": {"reportIntervalSeconds": 30}}).json
        obj["status"] = {"updateTime": "2026-01-01T00:00:00Z"}
        obj["spec"] = {}
        after = self.ask("PUT", METRIC + "/n/status", obj).json
        self.assertEqual(after["spec"], {"metricCollectPolicy": {"reportIntervalSeconds": 30}})
        self.assertEqual(after["status"]["updateTime"], "2026-01-01T00:00:00Z")
        self.assertEqual(after["metadata"]["generation"], 1)
        after["spec"], after["status"] = {}, {}
        last = self.ask("PUT", METRIC + "/n", after).json
        self.assertEqual((last["spec"], last["status"]["updateTime"]), ({}, "2026-01-01T00:00:00Z"))
        self.assertEqual(last["metadata"]["generation"], 2)

    def test_an_update_of_an_old_version_is_a_conflict_and_of_none_is_invalid(self):
        old = self.create().json
        self.ask("PUT", METRIC + "/n/status", {**old, "status": {"updateTime": "2026-01-01T00:00:00Z"}})
        answer = self.ask("PUT", METRIC + "/n/status", {**old, "status": {}})
        self.assertEqual((answer.status, answer.json["reason"]), (409, "Conflict"))
        without = {**old, "metadata": {"name": "n"}}
        self.assertEqual(self.ask("PUT", METRIC + "/n", without).status, 422)
        self.assertEqual(self.ask("PUT", METRIC + "/m", {**old, "metadata": {"name": "m"}}).status, 404)
        self.assertEqual(self.ask("PUT", METRIC + "/m", old).status, 400)

    def test_a_node_may_be_updated_without_a_version(self):
        node = self.get("/api/v1/nodes/test-node").json
        del node["metadata"]["resourceVersion"]
        node["metadata"]["labels"]["a"] = "b"
        self.assertEqual(self.ask("PUT", "/api/v1/nodes/test-node", node).json["metadata"]["labels"]["a"], "b")

    def test_patches(self):
        self.create()
        merge = "application/merge-patch+json"
        patched = self.ask("PATCH", METRIC + "/n/status", {"status": {"updateTime": "2026-01-01T00:00:00Z"}}, content_type=merge)
        self.assertEqual(patched.json["status"]["updateTime"], "2026-01-01T00:00:00Z")
        stale = {"metadata": {"resourceVersion": "1"}, "status": {"updateTime": "2026-01-02T00:00:00Z"}}
        self.assertEqual(self.ask("PATCH", METRIC + "/n/status", stale, content_type=merge).status, 409)
        strategic = "application/strategic-merge-patch+json"
        self.assertEqual(self.ask("PATCH", METRIC + "/n", {}, content_type=strategic).status, 415)
        node = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "metadata": {"annotations": {"x": "1"}}}
        self.ask("PATCH", "/api/v1/nodes/test-node/status", node, content_type=strategic)
        node["status"]["conditions"] = [{"type": "Other", "status": "False"}]
        after = self.ask("PATCH", "/api/v1/nodes/test-node/status", node, content_type=strategic).json
        self.assertEqual([condition["type"] for condition in after["status"]["conditions"]], ["Ready", "Other"])
        operations = [{"op": "add", "path": "/metadata/labels", "value": {"a": "1"}}, {"op": "test", "path": "/metadata/name", "value": "n"}]
        by_json = self.ask("PATCH", METRIC + "/n", operations, content_type="application/json-patch+json")
        self.assertEqual(by_json.json["metadata"]["labels"], {"a": "1"})

    def test_a_custom_resource_drops_unknown_fields_and_refuses_wrong_types(self):
        obj = self.create().json
        obj["status"] = {"nodeMetric": {"nodeUsage": {"resources": {"cpu": "1500m"}, "unknown": 1}}}
        self.assertEqual(self.ask("PUT", METRIC + "/n/status", obj).json["status"]["nodeMetric"], {"nodeUsage": {"resources": {"cpu": "1500m"}}})
        obj = self.get(METRIC + "/n").json
        obj["status"] = {"nodeMetric": {"nodeUsage": {"resources": {"cpu": "fast"}}}}
        answer = self.ask("PUT", METRIC + "/n/status", obj)
        self.assertEqual((answer.status, answer.json["reason"]), (422, "Invalid"))
        self.assertIn("status.nodeMetric.nodeUsage.resources.cpu", answer.json["message"])

    def test_conflict_strikes_by_another_writer(self):
        obj = self.create().json
        self.control("fault", fault="conflict", count=1)
        self.assertEqual(self.ask("PUT", METRIC + "/n/status", {**obj, "status": {}}).status, 409)
        obj = self.get(METRIC + "/n").json
        self.assertEqual(self.ask("PUT", METRIC + "/n/status", {**obj, "status": {}}).status, 200)

    def test_delete_keeps_to_preconditions(self):
        self.create()
        self.assertEqual(self.ask("DELETE", METRIC + "/n", {"preconditions": {"uid": "other"}}).status, 409)
        self.assertEqual(self.ask("DELETE", METRIC + "/n").status, 200)
        self.assertEqual(self.get(METRIC + "/n").status, 404)

    def test_a_body_of_more_than_3_mib_is_413(self):
        self.assertEqual(self.create(spec={"x": "y" * (4 << 20)}).status, 413)


class Evictions(ClusterCase):
    def evict(self, name, **more):
        return self.ask("POST", f"{PODS}/{name}/eviction", {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}, **more})

    def test_a_budget_without_a_disruption_left_refuses_with_429(self):
        self.control("put", object={"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"},
                                    "spec": {"selector": {"matchLabels": {"app": "db"}}}, "status": {"disruptionsAllowed": 1}})
        for name in ("db-0", "db-1"):
            self.put_pod(name, labels={"app": "db"})
        self.assertEqual(self.evict("db-0").status, 201)
        refused = self.evict("db-1")
        self.assertEqual((refused.status, refused.json["details"]["causes"][0]["reason"]), (429, "DisruptionBudget"))
        self.assertEqual(self.get(PODS + "/db-0").status, 404)
        self.assertEqual(self.get(PODS + "/db-1").status, 200)

    def test_a_pod_of_another_uid_is_not_evicted(self):
        uid = self.put_pod("p")["metadata"]["uid"]
        self.assertEqual(self.evict("p", deleteOptions={"preconditions": {"uid": "x"}}).status, 409)
        self.assertEqual(self.evict("p", deleteOptions={"preconditions": {"uid": uid}}).status, 201)
        self.assertEqual(self.evict("p").status, 404)

    def test_a_pod_that_ends_gracefully_stays_with_its_deletion_timestamp(self):
        self.put_pod("slow")
        self.control("fault", fault="graceful_deletion")
        self.assertEqual(self.evict("slow").status, 201)
        self.assertIn("deletionTimestamp", self.get(PODS + "/slow").json["metadata"])
        self.control("fault", fault="graceful_deletion", on=False)

    def test_discovery_tells_the_version_of_evictions(self):
        resources = {entry["name"]: entry for entry in self.get("/api/v1").json["resources"]}
        self.assertEqual((resources["pods/eviction"]["group"], resources["pods/eviction"]["version"]), ("policy", "v1"))
        self.assertEqual(self.evict("p", apiVersion="policy/v1beta1").status, 400)


class Faults(ClusterCase):
    def test_down_refuses_connections_and_keeps_the_port(self):
        self.control("fault", fault="down")
        with self.assertRaises(ConnectionRefusedError):
            self.get("/version")
        self.assertEqual(self.get("/healthz", server="kubelet").status, 200)
        self.control("clear_faults")
        self.assertEqual(self.get("/version").status, 200)

    def test_down_breaks_open_watches_off(self):
        watch = self.watch(f"{SLO}?watch=true&resourceVersion={self.version()}")
        self.control("fault", fault="down")
        with self.assertRaises((http.client.IncompleteRead, OSError)):
            watch.response.read()

    def test_hang_answers_when_it_is_cleared_with_an_end(self):
        self.control("fault", fault="hang", path="/nodes")
        ended = []
        def ask():
            try:
                self.get("/api/v1/nodes")
            except (OSError, http.client.HTTPException) as error:
                ended.append(error)
        thread = threading.Thread(target=ask)
        thread.start()
        self.control("wait_for_requests", path="/nodes", answered=False)
        self.assertEqual(self.get("/version").status, 200)
        self.assertFalse(ended)
        self.control("clear_faults")
        thread.join(LIMIT)
        self.assertEqual(len(ended), 1)

    def test_cut_ends_an_answer_in_the_middle(self):
        self.control("fault", fault="cut", after_bytes=10, count=1)
        with self.assertRaises((http.client.IncompleteRead, OSError)):
            self.get("/version")
        self.assertEqual(self.get("/version").status, 200)

    def test_slow_still_gives_all_of_it(self):
        self.control("fault", fault="slow", bytes_per_second=2000, count=1)
        self.assertEqual(self.get("/version").json["minor"], "30")

    def test_endless_gives_more_than_anybody_wants(self):
        self.control("fault", fault="endless", server="both")
        for server, path in (("api", "/api/v1/pods"), ("kubelet", "/pods")):
            connection = self.connect(server)
            connection.request("GET", path, headers=self.token())
            self.assertEqual(len(connection.getresponse().read(4 << 20)), 4 << 20)
            connection.close()

    def test_garbage_is_no_json_with_status_200(self):
        self.control("fault", fault="garbage", server="kubelet")
        answer = self.get("/pods", server="kubelet")
        self.assertEqual(answer.status, 200)
        with self.assertRaises(ValueError):
            answer.json  # pylint: disable=pointless-statement

    def test_errors_come_with_their_code_and_retry_after(self):
        self.control("fault", fault="too_many_requests", retry_after=7, count=1)
        answer = self.get("/api/v1/nodes")
        self.assertEqual((answer.status, answer.headers["Retry-After"], answer.json["reason"]), (429, "7", "TooManyRequests"))
        self.control("fault", fault="error", code=500, verb="list")
        self.assertEqual(self.get("/api/v1/nodes").status, 500)
        self.assertEqual(self.get("/api/v1/nodes/test-node").status, 200)

    def test_denied_kinds_are_403_and_missing_ones_404(self):
        self.control("fault", fault="deny", kind="NodeMetric", verb="update")
        self.control("fault", fault="missing", kind="Device")
        answer = self.ask("PUT", METRIC + "/n", {})
        self.assertEqual((answer.status, answer.json["reason"]), (403, "Forbidden"))
        self.assertIn('cannot update resource "nodemetrics" in API group "slo.koordinator.sh" at the cluster scope', answer.json["message"])
        self.assertEqual(self.get("/apis/scheduling.koordinator.sh/v1alpha1/devices").status, 404)
        self.assertEqual(self.get("/apis/scheduling.koordinator.sh/v1alpha1").status, 404)
        self.assertEqual(self.get(METRIC).status, 200)

    def test_not_ready_is_503_on_both(self):
        self.control("fault", fault="not_ready", server="both")
        self.assertEqual(self.get("/api/v1/nodes").status, 503)
        self.assertEqual(self.get("/pods", server="kubelet").status, 503)

    def test_a_wrong_fault_is_told(self):
        for wrong in ({"fault": "slow"}, {"fault": "dwn"}, {"fault": "down", "kind": "Pod"}, {"fault": "gone", "as": "x"}, {"fault": "deny", "kind": "Pud"}):
            with self.assertRaisesRegex(AssertionError, "400"):
                self.control("fault", **wrong)


class Kubelet(ClusterCase):
    def test_pods_and_configuration(self):
        self.assertIsNone(self.get("/pods", server="kubelet").json["items"])
        self.control("set_pods", items=[{"metadata": {"name": "p"}}])
        self.assertEqual(self.get("/pods/", server="kubelet").json["items"], [{"metadata": {"name": "p"}}])
        self.control("fault", fault="empty", server="kubelet")
        self.assertIsNone(self.get("/pods/", server="kubelet").json["items"])
        self.control("set_kubelet_config", config={"cpuManagerPolicy": "static"})
        self.assertEqual(self.get("/configz", server="kubelet").json["kubeletconfig"]["cpuManagerPolicy"], "static")

    def test_denied_is_403_in_words(self):
        self.control("fault", fault="deny", server="kubelet")
        answer = self.get("/pods", server="kubelet")
        self.assertEqual(answer.status, 403)
        self.assertIn(b"subresource=proxy", answer.text)


class Log(ClusterCase):
    def test_requests_are_told_with_all_that_is_known_of_them(self):
        self.get(SLO + "/x", headers={**self.token(), "User-Agent": "koordetector/1"})
        entry = self.control("wait_for_requests", name="x", answered=True, user_agent="^koord")[0]
        self.assertEqual((entry["verb"], entry["kind"], entry["status"], entry["token"]), ("get", "NodeSLO", 404, 1))

    def test_what_does_not_come_is_told(self):
        with self.assertRaisesRegex(AssertionError, "408 0 requests like"):
            self.control("wait_for_requests", path="/never", seconds=0)
        with self.assertRaisesRegex(AssertionError, "unknown property"):
            self.control("requests", paht="/x")
        with self.assertRaisesRegex(AssertionError, "408 Node test-node: /spec/x"):
            self.control("wait_for_object", kind="Node", name="test-node", pointer="/spec/x", seconds=0)

    def test_an_open_watch_is_told_from_one_that_ended(self):
        watch = self.watch(f"{SLO}?watch=true&fieldSelector=metadata.name%3Dlog")
        self.control("wait_for_requests", verb="watch", open=True, status=200)
        watch.close()
        self.control("wait_for_requests", verb="watch", open=False)

    def test_large_answers_are_compressed_for_whom_can_read_it(self):
        self.put_slo("large", text="x" * 200_000)
        answer = self.get(SLO + "/large", headers={**self.token(), "Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(len(answer.json["spec"]["text"]), 200_000)


class OldVersion(ClusterCase):
    OPTIONS = ["--minor", "24"]

    def test_an_older_cluster_says_so(self):
        self.assertEqual(self.get("/version").json["minor"], "24")


if __name__ == "__main__":
    unittest.main(verbosity=1)
