# SPDX-License-Identifier: Apache-2.0
"""TokenReview and SubjectAccessReview: the users of tokens, and the rules that grant them access."""
import threading

from . import status

AUDIENCE = "https://kubernetes.default.svc"
_PATHS = {"/apis/authentication.k8s.io/v1/tokenreviews": "TokenReview",
          "/apis/authorization.k8s.io/v1/subjectaccessreviews": "SubjectAccessReview"}


def kind_at(path):
    """Returns the kind of review that is created at this path; None if it is no review."""
    return _PATHS.get(path)


class Reviews:
    def __init__(self, own):
        self._own = own  # the credentials of the agent's service account
        self._mutex = threading.RLock()
        self._users, self._rules = {}, []

    def set_token(self, token, username, uid="", groups=(), extra=None, audiences=(AUDIENCE,), expired=False, login=False):
        """Adds a token. `expired`: it is refused with a real server's text. `login`: the API server itself accepts it, too."""
        user = {"username": username, "uid": uid, "groups": [*groups, "system:authenticated"], "extra": extra or {}}
        with self._mutex:
            self._users[token] = {"user": user, "audiences": list(audiences), "expired": expired, "login": login}

    def login(self, authorization):
        """Returns the user of a request with this header; None: the API server does not accept it."""
        scheme, _, token = (authorization or "").partition(" ")
        with self._mutex:
            known = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        return known["user"] if known and known["login"] and not known["expired"] else None

    def remove_token(self, token):
        with self._mutex:
            del self._users[token]

    def allow(self, verbs, user=None, group=None, paths=(), resources=(), names=()):
        """Adds a rule for a user or a group. `resources`: "nodemetrics.metrics.koordetector.sh/status"; `names`: empty means
        all."""
        if (user is None) == (group is None) or bool(paths) == bool(resources):
            raise ValueError("expected either a user or a group, and either paths or resources")
        with self._mutex:
            self._rules.append({"user": user, "group": group, "verbs": list(verbs), "paths": list(paths),
                                "resources": list(resources), "names": list(names)})

    def forbid_all(self):
        with self._mutex:
            self._rules.clear()

    def review(self, kind, body):
        """Returns the reviewed object with its status."""
        if not isinstance(body, dict) or body.get("kind") != kind:
            raise status.bad_request(f"expected an object of kind {kind}")
        spec = body.get("spec") or {}
        answer = self._token(spec) if kind == "TokenReview" else self._access(spec)
        return {"kind": kind, "apiVersion": body.get("apiVersion"), "metadata": {}, "spec": spec, "status": answer}

    def _token(self, spec):
        token, wanted = spec.get("token", ""), spec.get("audiences") or [AUDIENCE]
        with self._mutex:
            known = self._users.get(token)
        if known is None and self._own.is_valid(token):
            known = {"user": self._own.account(), "audiences": [AUDIENCE], "expired": False}
        if known is None:
            return {"error": "invalid bearer token"}
        if known["expired"]:
            return {"error": "[invalid bearer token, service account token has expired]"}
        both = [audience for audience in wanted if audience in known["audiences"]]
        if not both:
            return {"error": f"token audiences {known['audiences']} is invalid for the target audiences {wanted}"}
        return {"authenticated": True, "user": known["user"], "audiences": both}

    def _access(self, spec):
        groups = spec.get("groups") or []
        if "system:masters" in groups:
            return {"allowed": True}
        path, resource = spec.get("nonResourceAttributes"), spec.get("resourceAttributes")
        with self._mutex:
            rules = [rule for rule in self._rules if rule["user"] == spec.get("user") or rule["group"] in groups]
        for rule in rules:
            if path and _has(rule["verbs"], path.get("verb")) and _has(rule["paths"], path.get("path")):
                return {"allowed": True, "reason": "RBAC: allowed by a rule of the test"}
            if resource and _has(rule["verbs"], resource.get("verb")) and _has(rule["resources"], _full_name(resource)) \
                    and (not rule["names"] or resource.get("name") in rule["names"]):
                return {"allowed": True, "reason": "RBAC: allowed by a rule of the test"}
        return {"allowed": False}


def _has(words, word):
    return "*" in words or word in words


def _full_name(resource):
    name = resource.get("resource", "")
    if resource.get("group"):
        name += "." + resource["group"]
    return name + ("/" + resource["subresource"] if resource.get("subresource") else "")
