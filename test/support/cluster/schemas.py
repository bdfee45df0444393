# SPDX-License-Identifier: Apache-2.0
"""The API server's checks of objects that clients write. For custom resources the definition sets them: fields of a wrong type
and values out of bounds are refused, unknown fields are dropped. A type is one of the words below; [type] is a list, {"*": type}
a map, {field: type} an object; a field with a name that ends in "!" is required. For all objects: the limits of labels, annotations and
owners. For Events: their own limits."""
import json
import re

from . import status

_QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")

# Types with bounds, as OpenAPI writes them.
BOUNDED = {
    "quantity": {"pattern": _QUANTITY},
    "condition type": {"type": "string", "maxLength": 316,
                       "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"},
    "condition status": {"type": "string", "enum": ["True", "False", "Unknown"]},
    "condition reason": {"type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
    "condition message": {"type": "string", "maxLength": 32768},
    "natural": {"type": "integer", "minimum": 0},
    "seconds": {"type": "integer", "minimum": 1, "maximum": 60},
    "windows": {"type": "integer", "minimum": 1, "maximum": 86400},
    "priority": {"type": "integer", "minimum": 0, "maximum": 1000},
    "duration": {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"},
    "selector operator": {"type": "string", "enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
    "memory policy": {"type": "string", "enum": ["usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"]},
}

_RESOURCES = {"*": "quantity"}
_DEVICE = {"type": "string", "labels": {"*": "string"}, "id": "string", "minor": "integer", "moduleID": "integer",
           "health!": "boolean", "resources": _RESOURCES,
           "topology": {"socketID!": "integer", "nodeID!": "integer", "pcieID!": "string", "busID": "string"},
           "vfGroups": [{"labels": {"*": "string"}, "vfs": [{"minor!": "integer", "busID": "string"}]}],
           "conditions": [{"type!": "condition type", "status!": "condition status", "reason!": "condition reason",
                           "message!": "condition message", "lastTransitionTime!": "time", "observedGeneration": "natural"}]}
_USAGE = {"resources": _RESOURCES, "devices": [_DEVICE]}
_AGGREGATED = [{"usage": {"*": _USAGE}, "duration": "string"}]

_SCHEMAS = {
    "NodeMetric": {
        "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": "integer", "reportIntervalSeconds": "integer",
                                         "nodeAggregatePolicy": {"durations": ["string"]},
                                         "nodeMemoryCollectPolicy": "memory policy"}},
        "status": {
            "updateTime": "time",
            "nodeMetric": {"nodeUsage": _USAGE, "aggregatedNodeUsages": _AGGREGATED, "systemUsage": _USAGE,
                           "aggregatedSystemUsages": _AGGREGATED,
                           "numaUsages": [{"numaNodeID!": "integer", "nodeUsage": _USAGE, "systemUsage": _USAGE}]},
            "podsMetric": [{"name": "string", "namespace": "string", "podUsage": _USAGE, "priority": "string", "qos": "string",
                            "extensions": "any"}],
            "hostApplicationMetric": [{"name": "string", "usage": _USAGE, "priority": "string", "qos": "string"}],
            "prodReclaimableMetric": {"resource": _USAGE},
            "prodPeakMetric": {"resource": _USAGE}}},
    "NodeResourceTopology": {
        "topologyPolicies!": ["string"],
        "zones!": [{"name!": "string", "type!": "string", "parent": "string",
                    "costs": [{"name!": "string", "value!": "integer"}],
                    "attributes": [{"name!": "string", "value!": "string"}],
                    "resources": [{"name!": "string", "capacity!": "quantity", "allocatable!": "quantity",
                                   "available!": "quantity"}]}]},
    # Bounds of numbers are not checked here, because the agent must be safe with a definition that lacks them.
    "InterferenceDetectionRule": {
        "spec": {"priority": "priority",
                 "nodeSelector": {"matchLabels": {"*": "string"},
                                  "matchExpressions": [{"key!": "string", "operator!": "selector operator", "values": ["string"]}]},
                 "workloadSelector": {"namespaces": ["string"], "owners": [{"kind!": "string", "name!": "string"}],
                                      "matchLabels": {"*": "string"},
                                      "matchExpressions": [{"key!": "string", "operator!": "selector operator", "values": ["string"]}]},
                 "rule": {**{key: "number" for key in (
                     "throttledMsPerSecond", "heldUpMsPerSecond", "overQuiet", "latencyCpus", "throughputCpus", "lostThroughputPercent",
                     "estimatedPercent", "quietPercentile")},
                     "windows": "seconds", "windowsWithFinding": "seconds", "quietWindows": "windows",
                     **{key: "duration" for key in ("clearAfter", "quietHalfLife", "forgetAfter", "saveInterval")},
                     "blkio": {**{key: "number" for key in ("overQuiet", "excessMs", "requestsForMean", "requestsForP99", "limitUsedPercent")},
                               "quietWindows": "windows", "quietHalfLife": "duration"},
                     "memory": {"refaultMsPerSecond": "number", "overQuiet": "number"}}}},
    "InterferenceMetricCheckpoint": {
        "spec": {"workload!": "string", "node!": "string", "updateTime!": "time",
                 "cpu": {"windows!": "integer", "buckets!": [{"index!": "integer", "weight!": "number"}],
                         "suspects": [{"name!": "string", "quietMsPerSecond!": "number"}]},
                 "memory": {"windows!": "integer", "buckets!": [{"index!": "integer", "weight!": "number"}]}}},
    "Device": {"spec": {"devices": [_DEVICE]}, "status": "any"},
}


_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "time": str}


class _Problems:
    """Collects the errors of one object and writes them as the server does."""

    def __init__(self):
        self.causes = []

    def add(self, path, reason, message):
        self.causes.append({"reason": reason, "message": message, "field": path})

    def invalid(self, path, value, why):
        self.add(path, "FieldValueInvalid", f"Invalid value: {json.dumps(value)}: {why}")

    def required(self, path):
        self.add(path, "FieldValueRequired", "Required value")

    def wrong_type(self, path, value, expected):
        found = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}.get(type(value), "null")
        self.add(path, "FieldValueTypeInvalid", f'Invalid value: "{found}": {path} in body must be of type {expected}: "{found}"')

    def too_long(self, path, most):
        self.add(path, "FieldValueTooLong", f"Too long: may not be more than {most} bytes")


def _check_bounds(value, bounds, path, problems):
    if "enum" in bounds and value not in bounds["enum"]:
        known = ", ".join(json.dumps(entry) for entry in bounds["enum"])
        problems.add(path, "FieldValueNotSupported", f"Unsupported value: {json.dumps(value)}: supported values: {known}")
    if "minimum" in bounds and value < bounds["minimum"]:
        problems.invalid(path, value, f"{path} in body should be greater than or equal to {bounds['minimum']}")
    if "maximum" in bounds and value > bounds["maximum"]:
        problems.invalid(path, value, f"{path} in body should be less than or equal to {bounds['maximum']}")
    if "maxLength" in bounds and len(value) > bounds["maxLength"]:
        problems.too_long(path, bounds["maxLength"])
    if "minLength" in bounds and len(value) < bounds["minLength"]:
        problems.invalid(path, value, f"{path} in body should be at least {bounds['minLength']} chars long")
    elif "pattern" in bounds and isinstance(value, str) and not re.search(bounds["pattern"], value):
        problems.invalid(path, value, f"{path} in body should match '{bounds['pattern']}'")


def _check_scalar(value, word, path, problems):
    bounds = BOUNDED.get(word, {})
    base = bounds.get("type", word)
    if base == "any":
        return
    if base == "quantity":
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            return problems.wrong_type(path, value, "integer,string")
    elif not isinstance(value, _TYPES[base]) or (base in ("integer", "number") and isinstance(value, bool)):
        return problems.wrong_type(path, value, "string" if base == "time" else base)
    if base == "time" and not _TIME.match(value):
        return problems.invalid(path, value, f'{path} in body must be of type date-time: "{value}"')
    _check_bounds(value, bounds, path, problems)


def _checked(value, schema, path, problems):
    if isinstance(schema, str):
        _check_scalar(value, schema, path, problems)
        return value
    if isinstance(schema, list):
        if not isinstance(value, list):
            problems.wrong_type(path, value, "array")
            return value
        return [_checked(entry, schema[0], f"{path}[{i}]", problems) for i, entry in enumerate(value)]
    if not isinstance(value, dict):
        problems.wrong_type(path, value, "object")
        return value
    if "*" in schema:
        return {key: _checked(entry, schema["*"], f"{path}.{key}", problems) for key, entry in value.items()}
    kept = {}
    for field, kind in schema.items():
        name = field.rstrip("!")
        below = f"{path}.{name}".lstrip(".")
        if value.get(name) is not None:
            kept[name] = _checked(value[name], kind, below, problems)
        elif field.endswith("!"):
            problems.required(below)
    return kept


_LABEL = re.compile(r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")
_NAME = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_MOST_ANNOTATIONS = 256 << 10


def _check_metadata(kind, metadata, problems):
    name = metadata.get("name", "")
    if kind.custom and (len(name) > 253 or not _NAME.match(name)):
        problems.invalid("metadata.name", name, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                                                "'.', and must start and end with an alphanumeric character")
    for key, value in (metadata.get("labels") or {}).items():
        if not isinstance(value, str) or len(value) > 63 or not _LABEL.match(value):
            problems.invalid("metadata.labels", value, "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
                                                       "or '.', and must start and end with an alphanumeric character")
    annotations = metadata.get("annotations") or {}
    if sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items()) > _MOST_ANNOTATIONS:
        problems.too_long("metadata.annotations", _MOST_ANNOTATIONS)
    for i, owner in enumerate(metadata.get("ownerReferences") or []):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                problems.invalid(f"metadata.ownerReferences[{i}].{field}", owner.get(field, ""), "must not be empty")


def _check_event(event, problems):
    about = (event.get("involvedObject") or {}).get("namespace", "")
    namespace = event["metadata"].get("namespace", "")
    if namespace != about and not (about == "" and namespace == "default"):
        problems.invalid("involvedObject.namespace", about, "does not match event.namespace")
    if event.get("type") not in ("Normal", "Warning"):
        problems.invalid("type", event.get("type", ""), "must be one of Normal, Warning")
    # A real server checks these lengths only for Events with an eventTime. The agent's Events keep them in any case.
    for field, most in (("reason", 128), ("message", 1024), ("reportingInstance", 128)):
        if len(event.get(field) or "") > most:
            problems.too_long(field, most)
    for field in ("firstTimestamp", "lastTimestamp"):
        if event.get(field) is not None:
            _check_scalar(event[field], "time", field, problems)


_MICRO_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$")


def _check_lease(lease, problems):
    spec = lease.get("spec") or {}
    if "leaseDurationSeconds" in spec and spec["leaseDurationSeconds"] <= 0:
        problems.invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
    if spec.get("leaseTransitions", 0) < 0:
        problems.invalid("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")
    for field in ("acquireTime", "renewTime"):
        if field in spec and not _MICRO_TIME.match(str(spec[field])):
            raise status.bad_request(f"Lease in version \"v1\" cannot be handled as a Lease: parsing time {spec[field]!r}")


def admit(kind, obj):
    """Returns the object as the server stores it, or refuses it."""
    problems = _Problems()
    _check_metadata(kind, obj["metadata"], problems)
    if kind.name == "Event":
        _check_event(obj, problems)
    if kind.name == "Lease":
        _check_lease(obj, problems)
    schema = _SCHEMAS.get(kind.name)
    kept = obj
    if schema is not None:
        kept = {key: obj[key] for key in ("apiVersion", "kind", "metadata") if key in obj} | _checked(obj, schema, "", problems)
    if problems.causes:
        raise status.invalid_fields(kind, obj["metadata"].get("name", ""), problems.causes)
    return kept


def check_immutable(kind, before, obj):
    """Refuses a change of addressType: EndpointSlice is the only kind here with an immutable field."""
    if kind.name == "EndpointSlice" and obj.get("addressType") != before.get("addressType"):
        raise status.invalid(kind, before["metadata"]["name"], "addressType", json.dumps(obj.get("addressType")), "field is immutable")


def _places(value, steps, path=""):
    """Returns the fields of a value at these steps; "[]" is each entry of a list."""
    if not steps:
        return [(path, value)]
    if steps[0] == "[]":
        entries = enumerate(value) if isinstance(value, list) else []
        return [found for i, entry in entries for found in _places(entry, steps[1:], f"{path}[{i}]")]
    if not isinstance(value, dict) or steps[0] not in value:
        return []
    return _places(value[steps[0]], steps[1:], f"{path}.{steps[0]}".lstrip("."))


def refuse(kind, name, body, fields):
    """Refuses the object as if these fields ("spec.devices[].id") were invalid."""
    problems = _Problems()
    for field in fields:
        for path, value in _places(body, field.replace("[]", ".[]").split(".")):
            problems.invalid(path, value, "refused on purpose")
    if problems.causes:
        raise status.invalid_fields(kind, name, problems.causes)
