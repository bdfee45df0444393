# SPDX-License-Identifier: Apache-2.0
"""The kinds of objects that the API server knows, and their differences in the API."""
from dataclasses import dataclass

_NAME = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True)
class Kind:
    name: str  # "NodeSLO"
    plural: str
    group: str  # "" is the core group
    version: str
    namespaced: bool = False
    status: bool = False  # has the subresource status
    custom: bool = False  # defined by a CustomResourceDefinition: may be missing, no unconditional update, no strategic merge
    versioned: bool = False  # no unconditional update, although it is built in
    fields: tuple = _NAME  # that a field selector may use

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self):
        return f"{self.plural}.{self.group}" if self.group else self.plural


KINDS = (
    Kind("APIService", "apiservices", "apiregistration.k8s.io", "v1", status=True),
    Kind("ConfigMap", "configmaps", "", "v1", namespaced=True),
    Kind("Endpoints", "endpoints", "", "v1", namespaced=True),
    Kind("EndpointSlice", "endpointslices", "discovery.k8s.io", "v1", namespaced=True),
    Kind("Event", "events", "", "v1", namespaced=True,
         fields=_NAME + ("involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid",
                         "reason", "type")),
    Kind("Lease", "leases", "coordination.k8s.io", "v1", namespaced=True, versioned=True),
    Kind("Node", "nodes", "", "v1", status=True, fields=_NAME + ("spec.unschedulable",)),
    Kind("PersistentVolumeClaim", "persistentvolumeclaims", "", "v1", namespaced=True, status=True),
    Kind("Pod", "pods", "", "v1", namespaced=True, status=True,
         fields=_NAME + ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
                         "status.phase", "status.podIP", "status.nominatedNodeName")),
    Kind("PodDisruptionBudget", "poddisruptionbudgets", "policy", "v1", namespaced=True, status=True),
    Kind("Service", "services", "", "v1", namespaced=True, status=True),
    Kind("Device", "devices", "scheduling.koordinator.sh", "v1alpha1", custom=True),
    Kind("InterferenceDetectionRule", "interferencedetectionrules", "interference.koordinator.sh", "v1alpha1", custom=True),
    Kind("InterferenceMetricCheckpoint", "interferencemetriccheckpoints", "interference.koordinator.sh", "v1alpha1", custom=True),
    Kind("NodeMetric", "nodemetrics", "slo.koordinator.sh", "v1alpha1", custom=True, status=True),
    Kind("NodeSLO", "nodeslos", "slo.koordinator.sh", "v1alpha1", custom=True, status=True),
    Kind("NodeResourceTopology", "noderesourcetopologies", "topology.node.k8s.io", "v1alpha1", custom=True),
)

BY_NAME = {kind.name: kind for kind in KINDS}


def find(group, version, plural):
    for kind in KINDS:
        if (kind.group, kind.version, kind.plural) == (group, version, plural):
            return kind
    return None


def named(text):
    """Returns a kind by its name or plural; case does not matter."""
    for kind in KINDS:
        if text.lower() in (kind.name.lower(), kind.plural):
            return kind
    raise ValueError(f"unknown kind '{text}', expected one of {', '.join(BY_NAME)}")
