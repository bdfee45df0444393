# SPDX-License-Identifier: Apache-2.0
"""Tests both servers from a client: credentials, faults, the kubelet's answers, and the request log."""
import http.client
import json
import os
import ssl
import threading
import unittest

from cluster_case import LIMIT, METRIC, SLO, Answer, ClusterCase


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

    def test_a_client_certificate_is_the_user_it_names_until_it_is_replaced(self):
        pki = os.path.join(self.folder.name, "pki")
        certificate = (os.path.join(pki, "client.pem"), os.path.join(pki, "client.key"))
        connection = self.connect(certificate=certificate)
        connection.request("GET", "/api/v1/nodes")
        self.assertEqual(Answer(connection.getresponse()).status, 200)
        self.control("fault", fault="rotate_client_certificate")
        connection.request("GET", "/api/v1/nodes")
        self.assertEqual(Answer(connection.getresponse()).status, 401)

    def test_a_replaced_ca_is_no_longer_trusted(self):
        before = self.connect()
        before.request("GET", "/version")
        self.assertEqual(Answer(before.getresponse()).status, 200)
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

    def test_mute_does_what_is_asked_and_never_answers(self):
        self.control("fault", fault="mute", verb="delete")
        self.put_pod("quiet")
        connection = self.connect()
        connection.request("DELETE", "/api/v1/namespaces/shop/pods/quiet", headers=connection.token)
        self.control("wait_for_object", kind="Pod", name="quiet", namespace="shop", exists=False)
        connection.sock.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            connection.getresponse()

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

    def test_endless_sends_more_than_any_client_reads(self):
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
            json.loads(answer.text)

    def test_answer_is_given_instead_of_the_execution_or_after_it(self):
        self.put_pod("answered")
        path = "/api/v1/namespaces/shop/pods/answered"
        self.control("fault", fault="answer", verb="delete", code=307, headers={"Location": "https://127.0.0.1/"}, body="<", filler="ab",
                     times=3, tail=">", count=1)
        answer = self.ask("DELETE", path)
        self.assertEqual((answer.status, answer.headers["Location"], answer.text), (307, "https://127.0.0.1/", b"<ababab>"))
        self.assertEqual(self.get(path).status, 200)
        self.control("fault", fault="answer", verb="delete", code=500, done=True, count=1)
        self.assertEqual(self.ask("DELETE", path).status, 500)
        self.assertEqual(self.get(path).status, 404)
        self.control("fault", fault="answer", server="kubelet", close=True, count=1)
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.get("/pods", server="kubelet")

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

    def test_a_wrong_fault_is_an_error(self):
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
    def test_requests_are_recorded_with_all_their_details(self):
        self.get(SLO + "/x", headers={**self.token(), "User-Agent": "koordetector/1"})
        entry = self.control("wait_for_requests", name="x", answered=True, user_agent="^koord")[0]
        self.assertEqual((entry["verb"], entry["kind"], entry["status"], entry["token"]), ("get", "NodeSLO", 404, 1))

    def test_a_wait_without_a_result_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "408 0 requests like"):
            self.control("wait_for_requests", path="/never", seconds=0)
        with self.assertRaisesRegex(AssertionError, "unknown property"):
            self.control("requests", paht="/x")
        with self.assertRaisesRegex(AssertionError, "408 Node test-node: /spec/x"):
            self.control("wait_for_object", kind="Node", name="test-node", pointer="/spec/x", seconds=0)

    def test_an_open_watch_is_distinguished_from_an_ended_one(self):
        watch = self.watch(f"{SLO}?watch=true&fieldSelector=metadata.name%3Dlog")
        self.control("wait_for_requests", verb="watch", open=True, status=200)
        watch.close()
        self.control("wait_for_requests", verb="watch", open=False)

    def test_large_answers_are_compressed_for_clients_that_accept_it(self):
        self.put_slo("large", text="x" * 200_000)
        answer = self.get(SLO + "/large", headers={**self.token(), "Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(len(answer.json["spec"]["text"]), 200_000)


if __name__ == "__main__":
    unittest.main()
