# SPDX-License-Identifier: Apache-2.0
"""Tests TokenReview and SubjectAccessReview of the test cluster from a client."""
import unittest

from cluster_case import ClusterCase

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESSES = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Reviews(ClusterCase):
    def token_status(self, **spec):
        answer = self.ask("POST", TOKENS, {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": spec})
        self.assertEqual(answer.status, 201)
        return answer.json["status"]

    def access(self, **spec):
        answer = self.ask("POST", ACCESSES, {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec})
        self.assertEqual(answer.status, 201)
        return answer.json["status"]["allowed"]

    def test_a_token_belongs_to_the_user_it_was_set_for(self):
        self.control("set_token", token="t-1", username="prometheus", extra={"authentication.kubernetes.io/node-name": ["n"]})
        review = self.token_status(token="t-1")
        self.assertTrue(review["authenticated"])
        self.assertEqual(review["user"]["username"], "prometheus")
        self.assertEqual(review["user"]["extra"], {"authentication.kubernetes.io/node-name": ["n"]})
        self.control("remove_token", token="t-1")
        self.assertNotIn("authenticated", self.token_status(token="t-1"))

    def test_expired_tokens_and_other_audiences_are_refused(self):
        self.control("set_token", token="t-2", username="a", expired=True)
        self.assertIn("expired", self.token_status(token="t-2")["error"])
        self.control("set_token", token="t-3", username="a", audiences=["vault"])
        self.assertIn("audiences", self.token_status(token="t-3")["error"])
        self.assertEqual(self.token_status(token="t-3", audiences=["vault", "x"])["audiences"], ["vault"])

    def test_rules_allow_a_user_or_a_group_and_nothing_else(self):
        metrics = {"path": "/metrics", "verb": "get"}
        self.control("allow", user="a", verbs=["get"], paths=["/metrics"])
        self.assertTrue(self.access(user="a", nonResourceAttributes=metrics))
        self.assertFalse(self.access(user="b", nonResourceAttributes=metrics))
        self.assertFalse(self.access(user="a", nonResourceAttributes={"path": "/metrics", "verb": "post"}))
        self.control("allow", group="g", verbs=["update"], resources=["nodemetrics.metrics.koordetector.sh/status"], names=["n"])
        status = {"group": "metrics.koordetector.sh", "resource": "nodemetrics", "subresource": "status", "verb": "update"}
        self.assertTrue(self.access(user="b", groups=["g"], resourceAttributes={**status, "name": "n"}))
        self.assertFalse(self.access(user="b", groups=["g"], resourceAttributes={**status, "name": "m"}))
        self.control("forbid_all")
        self.assertFalse(self.access(user="a", nonResourceAttributes=metrics))
        self.assertTrue(self.access(user="a", groups=["system:masters"], nonResourceAttributes=metrics))

    def test_faults_strike_reviews_by_path(self):
        self.control("fault", fault="deny", path="tokenreviews")
        answer = self.ask("POST", TOKENS, {"kind": "TokenReview", "spec": {"token": "x"}})
        self.assertEqual(answer.status, 403)
        self.control("clear_faults")


if __name__ == "__main__":
    unittest.main()
