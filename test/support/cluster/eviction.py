# SPDX-License-Identifier: Apache-2.0
"""Evictions, which PodDisruptionBudgets may refuse."""
from . import kinds, resources, status

_POD, _BUDGET = kinds.BY_NAME["Pod"], kinds.BY_NAME["PodDisruptionBudget"]


def versions(minor):
    """Returns the policy versions in which Kubernetes 1.minor accepts evictions; discovery lists the first."""
    return (["v1"] if minor >= 22 else []) + (["v1beta1"] if minor < 25 else [])


def evict(store, namespace, name, body, minor, graceful):
    body = body or {}
    known = [f"policy/{version}" for version in versions(minor)]
    if body.get("kind") != "Eviction" or body.get("apiVersion") not in known:
        raise status.bad_request(f'no kind "{body.get("kind")}" is registered for version "{body.get("apiVersion")}"')
    if (body.get("metadata") or {}).get("name", name) != name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    with store.changed:
        pod = store.need(_POD, namespace, name)
        options = body.get("deleteOptions") or {}
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted is not None and wanted != pod["metadata"]["uid"]:
            raise status.conflict(_POD, name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: "
                                              f"{pod['metadata']['uid']}")
        _take_from_budget(store, pod)
        resources.delete(store, _POD, namespace, name, options, graceful)
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _covers(budget, pod):
    chosen = ((budget.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    labels = pod["metadata"].get("labels") or {}
    return (budget["metadata"].get("namespace") == pod["metadata"].get("namespace")
            and bool(chosen) and all(labels.get(key) == value for key, value in chosen.items()))


def _take_from_budget(store, pod):
    budgets = [budget for budget in store.all(_BUDGET) if _covers(budget, pod)]
    if len(budgets) > 1:
        raise status.Refusal(500, "InternalError", "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                                                   "does not support.")
    for budget in budgets:
        left = (budget.get("status") or {}).get("disruptionsAllowed", 0)
        if left <= 0:
            name = budget["metadata"]["name"]
            raise status.too_many_requests(
                10, "Cannot evict pod as it would violate the pod's disruption budget.",
                {"causes": [{"reason": "DisruptionBudget", "message": f"The disruption budget {name} has no disruption left"}]})
        store.replace(_BUDGET, {**budget, "status": {**budget["status"], "disruptionsAllowed": left - 1}})
