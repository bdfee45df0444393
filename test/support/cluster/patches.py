# SPDX-License-Identifier: Apache-2.0
"""The three patches of the API: merge (RFC 7386), strategic merge, JSON patch (RFC 6902). Each returns a new object."""
import copy

from . import status

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"

# The keys by which a strategic merge matches the entries of a list.
_MERGE_KEYS = {"conditions": "type", "addresses": "type", "taints": "key", "containers": "name", "initContainers": "name",
               "ephemeralContainers": "name", "volumes": "name", "env": "name", "ownerReferences": "uid",
               "imagePullSecrets": "name", "tolerations": "key", "volumesAttached": "name"}


def merge(target, patch):
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(target, patch, field=""):
    if isinstance(patch, dict):
        if patch.get("$patch") == "replace":
            return {key: copy.deepcopy(value) for key, value in patch.items() if key != "$patch"}
        result = dict(target) if isinstance(target, dict) else {}
        for key, value in patch.items():
            if key.startswith("$"):
                continue
            if value is None:
                result.pop(key, None)
            else:
                result[key] = strategic(result.get(key), value, key)
        return result
    if isinstance(patch, list) and field in _MERGE_KEYS:
        return _merge_list(target if isinstance(target, list) else [], patch, _MERGE_KEYS[field])
    return copy.deepcopy(patch)


def _merge_list(target, patch, key):
    result = list(target)
    for entry in patch:
        place = next((i for i, known in enumerate(result) if known.get(key) == entry.get(key)), None)
        if entry.get("$patch") == "delete":
            if place is not None:
                del result[place]
        elif place is None:
            result.append(copy.deepcopy(entry))
        else:
            result[place] = strategic(result[place], entry)
    return result


def _steps(pointer):
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"JSON pointer must start with '/': {pointer}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _index(container, step, length):
    if not step.isdigit() or int(step) >= length:
        raise ValueError(f"no index '{step}'")
    return int(step)


def resolve(document, pointer):
    for step in _steps(pointer):
        if isinstance(document, list):
            document = document[_index(document, step, len(document))]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            raise ValueError(f"the path '{pointer}' does not exist")
    return document


def _apply(document, operation):
    name, pointer = operation.get("op"), operation["path"]
    if name == "test":
        if resolve(document, pointer) != operation.get("value"):
            raise ValueError(f"testing value {pointer} failed")
        return
    *way, last = _steps(pointer)
    parent = document
    for step in way:
        parent = parent[_index(parent, step, len(parent))] if isinstance(parent, list) else parent[step]
    value = copy.deepcopy(operation.get("value"))
    if name in ("move", "copy"):
        value = copy.deepcopy(resolve(document, operation["from"]))
    if name == "move":
        _apply(document, {"op": "remove", "path": operation["from"]})
    if name in ("add", "move", "copy"):
        if isinstance(parent, list):
            parent.insert(len(parent) if last == "-" else _index(parent, last, len(parent) + 1), value)
        else:
            parent[last] = value
    elif name == "replace":
        resolve(document, pointer)
        parent[_index(parent, last, len(parent)) if isinstance(parent, list) else last] = value
    elif name == "remove":
        del parent[_index(parent, last, len(parent)) if isinstance(parent, list) else last]
    else:
        raise ValueError(f"unknown operation '{name}'")


def json_patch(target, operations):
    result = copy.deepcopy(target)
    for operation in operations:
        _apply(result, operation)
    return result


def apply(kind, content_type, target, patch):
    known = [JSON, MERGE] + ([] if kind.custom else [STRATEGIC])
    if content_type not in known:
        raise status.unsupported_media_type(content_type, known)
    if content_type == JSON:
        try:
            return json_patch(target, patch)
        except (ValueError, KeyError, TypeError) as error:
            raise status.invalid(kind, target["metadata"]["name"], "patch", None, str(error)) from error
    if not isinstance(patch, dict):
        raise status.bad_request("expected an object as patch")
    return (merge if content_type == MERGE else strategic)(target, patch)
