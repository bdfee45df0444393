# SPDX-License-Identifier: Apache-2.0
"""Tests the API server from a client: versions, pages, watches, writes and evictions."""
import unittest

from cluster_case import METRIC, PODS, SLO, ClusterCase


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
    def test_a_watch_from_a_version_reports_later_changes(self):
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

    def test_a_watch_of_one_name_reports_no_other(self):
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

    def test_a_version_without_history_is_an_error_event_of_410(self):
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

    def test_bookmarks_come_to_clients_that_allow_them(self):
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

    def test_a_watch_that_was_ended_reports_no_later_change(self):
        self.empty("NodeSLO")
        for x in range(20):
            watch = self.watch(f"{SLO}?watch=true&resourceVersion={self.version()}")
            self.control("fault", fault="end_watches")
            self.put_slo("a", x=x)
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

    def test_one_of_two_writers_of_a_lease_gets_a_conflict(self):
        leases = "/apis/coordination.k8s.io/v1/namespaces/koordetector/leases"
        spec = {"holderIdentity": "a", "leaseDurationSeconds": 6, "renewTime": "2026-01-01T00:00:00.000000Z"}
        self.ask("DELETE", leases + "/l", {})
        made = self.ask("POST", leases, {"metadata": {"name": "l"}, "spec": spec}).json
        self.assertEqual(self.ask("POST", leases, {"metadata": {"name": "l"}, "spec": spec}).status, 409)
        made["spec"]["holderIdentity"] = "b"
        self.assertEqual(self.ask("PUT", leases + "/l", made).status, 200)
        made["spec"]["holderIdentity"] = "c"
        self.assertEqual(self.ask("PUT", leases + "/l", made).status, 409)
        del made["metadata"]["resourceVersion"]
        self.assertEqual(self.ask("PUT", leases + "/l", made).status, 422)

    def test_a_lease_needs_a_duration_above_zero_and_times_with_microseconds(self):
        leases = "/apis/coordination.k8s.io/v1/namespaces/koordetector/leases"
        self.assertEqual(self.ask("POST", leases, {"metadata": {"name": "m"}, "spec": {"leaseDurationSeconds": 0}}).status, 422)
        late = {"metadata": {"name": "m"}, "spec": {"renewTime": "2026-01-01T00:00:00Z"}}
        self.assertEqual(self.ask("POST", leases, late).status, 400)

    def test_a_slice_keeps_its_type_of_addresses(self):
        slices = "/apis/discovery.k8s.io/v1/namespaces/koordetector/endpointslices"
        made = self.ask("POST", slices, {"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": []}).json
        made["endpoints"] = [{"addresses": ["10.0.0.7"]}]
        made = self.ask("PUT", slices + "/s", made).json
        refused = self.ask("PUT", slices + "/s", {**made, "addressType": "IPv6"})
        self.assertEqual(refused.status, 422)
        self.assertIn("addressType: \"IPv6\": field is immutable", refused.json["message"])

    def test_a_custom_resource_drops_unknown_fields_and_refuses_wrong_types(self):
        obj = self.create().json
        obj["status"] = {"nodeMetric": {"nodeUsage": {"resources": {"cpu": "1500m"}, "unknown": 1}}}
        self.assertEqual(self.ask("PUT", METRIC + "/n/status", obj).json["status"]["nodeMetric"], {"nodeUsage": {"resources": {"cpu": "1500m"}}})
        obj = self.get(METRIC + "/n").json
        obj["status"] = {"nodeMetric": {"nodeUsage": {"resources": {"cpu": "fast"}}}}
        answer = self.ask("PUT", METRIC + "/n/status", obj)
        self.assertEqual((answer.status, answer.json["reason"]), (422, "Invalid"))
        self.assertIn("status.nodeMetric.nodeUsage.resources.cpu", answer.json["message"])

    def test_a_refusal_names_each_field_that_is_out_of_bounds_as_a_real_server_does(self):
        devices = "/apis/scheduling.koordinator.sh/v1alpha1/devices"
        condition = {"type": "Healthy", "status": "no", "reason": "15", "message": "lost", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        device = {"metadata": {"name": "n"}, "spec": {"devices": [{"id": "GPU-a", "health": False, "conditions": [condition]}]}}
        answer = self.ask("POST", devices, device)
        self.assertEqual(answer.status, 422)
        field = "spec.devices[0].conditions[0].reason"
        self.assertIn({"field": field, "reason": "FieldValueInvalid", "message": f'Invalid value: "15": {field} in body should match '
                       "'^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'"}, answer.json["details"]["causes"])
        self.assertIn('status: Unsupported value: "no": supported values: "True", "False", "Unknown"', answer.json["message"])
        condition |= {"status": "False", "reason": "NVMLError15"}
        self.assertEqual(self.ask("POST", devices, device).status, 201)
        labelled = {"metadata": {"name": "m", "labels": {"a": "no label!"}, "annotations": {"b": "x" * (256 << 10)}}}
        refused = {cause["field"] for cause in self.ask("POST", devices, labelled).json["details"]["causes"]}
        self.assertEqual(refused, {"metadata.labels", "metadata.annotations"})

    def test_an_event_belongs_to_the_namespace_of_what_it_is_about(self):
        event = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "other", "name": "p"}, "type": "Warning"}
        self.assertEqual(self.ask("POST", "/api/v1/namespaces/shop/events", event).status, 422)
        event["involvedObject"]["namespace"] = "shop"
        self.assertEqual(self.ask("POST", "/api/v1/namespaces/shop/events", event).status, 201)

    def test_fields_are_refused_on_purpose(self):
        obj = self.create().json
        self.control("fault", fault="refuse", kind="NodeMetric", fields=["status.podsMetric[].qos"])
        pods = [{"name": "a"}, {"name": "b", "qos": "LS"}]
        answer = self.ask("PUT", METRIC + "/n/status", {**obj, "status": {"podsMetric": pods}})
        self.assertEqual([cause["field"] for cause in answer.json["details"]["causes"]], ["status.podsMetric[1].qos"])
        self.assertEqual(self.ask("PUT", METRIC + "/n/status", {**obj, "status": {"podsMetric": pods[:1]}}).status, 200)

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

    def test_discovery_reports_the_version_of_evictions(self):
        resources = {entry["name"]: entry for entry in self.get("/api/v1").json["resources"]}
        self.assertEqual((resources["pods/eviction"]["group"], resources["pods/eviction"]["version"]), ("policy", "v1"))
        self.assertEqual(self.evict("p", apiVersion="policy/v1beta1").status, 400)


class OldVersion(ClusterCase):
    OPTIONS = ["--minor", "21"]

    def test_an_older_cluster_says_so_and_takes_evictions_of_its_version(self):
        self.assertEqual(self.get("/version").json["minor"], "21")
        resources = {entry["name"]: entry for entry in self.get("/api/v1").json["resources"]}
        self.assertEqual(resources["pods/eviction"]["version"], "v1beta1")
        self.put_pod("p")
        body = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p"}}
        self.assertEqual(self.ask("POST", PODS + "/p/eviction", body).status, 400)
        self.assertEqual(self.ask("POST", PODS + "/p/eviction", {**body, "apiVersion": "policy/v1beta1"}).status, 201)


if __name__ == "__main__":
    unittest.main()
