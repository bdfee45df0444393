# SPDX-License-Identifier: Apache-2.0
"""What the definitions of the custom resources ask of objects that clients write: fields of other types are refused, unknown
ones dropped. A type is one of the words below, [type] a list, {"*": type} a map, {field: type} an object; a field whose name
ends in "!" must be there."""
import re

from . import status

_QUANTITY = re.compile(r"^[+-]?(\d+(\.\d*)?|\.\d+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?(\d+(\.\d*)?|\.\d+)))?$")
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")

_RESOURCES = {"*": "quantity"}
_DEVICE = {"type": "string", "labels": {"*": "string"}, "id": "string", "minor": "integer", "moduleID": "integer",
           "health!": "boolean", "resources": _RESOURCES,
           "topology": {"socketID!": "integer", "nodeID!": "integer", "pcieID!": "string", "busID": "string"},
           "vfGroups": [{"labels": {"*": "string"}, "vfs": [{"minor!": "integer", "busID": "string"}]}],
           "conditions": [{"type!": "string", "status!": "string", "reason!": "string", "message!": "string",
                           "lastTransitionTime!": "time", "observedGeneration": "integer"}]}
_USAGE = {"resources": _RESOURCES, "devices": [_DEVICE]}
_AGGREGATED = [{"usage": {"*": _USAGE}, "duration": "string"}]

_SCHEMAS = {
    "NodeMetric": {
        "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": "integer", "reportIntervalSeconds": "integer",
                                         "nodeAggregatePolicy": {"durations": ["string"]},
                                         "nodeMemoryCollectPolicy": "string"}},
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
    "Device": {"spec": {"devices": [_DEVICE]}, "status": "any"},
}


def _is(word, value):
    if word == "string":
        return isinstance(value, str)
    if word == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if word == "boolean":
        return isinstance(value, bool)
    if word == "time":
        return isinstance(value, str) and _TIME.match(value) is not None
    if word == "quantity":
        return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and _QUANTITY.match(value) is not None)
    return word == "any"


class _Wrong(Exception):
    pass


def _checked(value, schema, path):
    if isinstance(schema, str):
        if not _is(schema, value):
            raise _Wrong(path, value, f"must be of type {schema}")
        return value
    if isinstance(schema, list):
        if not isinstance(value, list):
            raise _Wrong(path, value, "must be of type array")
        return [_checked(entry, schema[0], f"{path}[{i}]") for i, entry in enumerate(value)]
    if not isinstance(value, dict):
        raise _Wrong(path, value, "must be of type object")
    if "*" in schema:
        return {key: _checked(entry, schema["*"], f"{path}.{key}") for key, entry in value.items()}
    kept = {}
    for field, kind in schema.items():
        name = field.rstrip("!")
        if value.get(name) is not None:
            kept[name] = _checked(value[name], kind, f"{path}.{name}".lstrip("."))
        elif field.endswith("!"):
            raise _Wrong(f"{path}.{name}".lstrip("."), None, "Required value")
    return kept


def admit(kind, obj):
    """The object as its definition lets it in."""
    schema = _SCHEMAS.get(kind.name)
    if schema is None:
        return obj
    try:
        kept = _checked(obj, schema, "")
    except _Wrong as wrong:
        field, value, why = wrong.args
        raise status.invalid(kind, obj["metadata"].get("name", ""), field, None if value is None else repr(value), why) from wrong
    return {key: obj[key] for key in ("apiVersion", "kind", "metadata") if key in obj} | kept
