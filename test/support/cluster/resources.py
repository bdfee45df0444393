# SPDX-License-Identifier: Apache-2.0
"""Get, list, create, update, patch and delete, as the API server does them."""
import base64
import json
import secrets

from . import patches, schemas, selection, status, storage


def asked_version(query):
    """Returns the resourceVersion that a read asks for; None: the newest."""
    text = query.get("resourceVersion", "")
    if text == "":
        return None
    if not text.isdigit():
        raise status.bad_request(f'invalid resourceVersion: "{text}"')
    return int(text)


def get(store, kind, namespace, name, query):
    version = asked_version(query)
    with store.changed:
        if version is not None and version > store.version:
            raise status.too_large_version(version, store.version)
        return store.need(kind, namespace, name)


def list_all(store, kind, namespace, query):
    if query.get("continue"):
        return _continued(store, kind, namespace, query)
    version = asked_version(query)
    match = query.get("resourceVersionMatch", "")
    if match and version is None:
        raise status.invalid(kind, "", "resourceVersionMatch", match, "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided")
    with store.changed:
        if version is not None and version > store.version:
            raise status.too_large_version(version, store.version)
        if match == "Exact" and version != store.version:
            objects = store.snapshot_of(kind, version)
            if objects is None:
                raise status.expired("The resourceVersion for the provided list is too old.")
            return _page(kind, namespace, query, version, objects, "")
        current, objects = store.snapshot(kind)
    # Answers that may be stale come from a cache that ignores page limits.
    if version == 0 and not match:
        query = {key: value for key, value in query.items() if key != "limit"}
    return _page(kind, namespace, query, current, objects, "")


def _continued(store, kind, namespace, query):
    if query.get("resourceVersion") not in (None, "", "0"):
        raise status.bad_request("specifying resource version is not allowed when using continue")
    try:
        token = json.loads(base64.urlsafe_b64decode(query["continue"].encode() + b"=="))
        version, start = token["rv"], token["start"]
    except (ValueError, KeyError, TypeError) as error:
        raise status.bad_request("continue key is not valid") from error
    objects = store.snapshot_of(kind, version)
    if objects is None:
        raise status.expired("The provided continue parameter is too old to display a consistent list result. You can start "
                             "a new list without the continue parameter.")
    return _page(kind, namespace, query, version, objects, start)


def _key(obj):
    return "/".join(storage.key_of(obj))


def _page(kind, namespace, query, version, objects, start):
    holds = selection.both(kind, query)
    found = [obj for obj in objects if (not namespace or obj["metadata"].get("namespace") == namespace) and holds(obj)
             and _key(obj) > start]
    limit = int(query.get("limit") or 0)
    metadata = {"resourceVersion": str(version)}
    if 0 < limit < len(found):
        token = {"v": "meta.k8s.io/v1", "rv": version, "start": _key(found[limit - 1])}
        metadata["continue"] = base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")
        if not (query.get("labelSelector") or query.get("fieldSelector")):
            metadata["remainingItemCount"] = len(found) - limit
        found = found[:limit]
    items = [obj if kind.custom else {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
             for obj in found]
    return {"kind": kind.name + "List", "apiVersion": kind.api_version, "metadata": metadata, "items": items}


def _admitted(kind, namespace, name, obj):
    """Returns a body that fits this address; refuses it otherwise."""
    if not isinstance(obj, dict):
        raise status.bad_request("expected an object")
    if obj.get("kind", kind.name) != kind.name or obj.get("apiVersion", kind.api_version) != kind.api_version:
        raise status.bad_request(f'the API version in the data ({obj.get("apiVersion")}, kind {obj.get("kind")}) does not match '
                                 f'the expected API version ({kind.api_version}, kind {kind.name})')
    metadata = dict(obj.get("metadata") or {})
    if name and metadata.setdefault("name", name) != name:
        raise status.bad_request(f'the name of the object ({metadata["name"]}) does not match the name on the URL ({name})')
    if kind.namespaced:
        if metadata.setdefault("namespace", namespace) != namespace:
            raise status.bad_request("the namespace of the provided object does not match the namespace sent on the request")
    elif metadata.get("namespace"):
        raise status.bad_request("the namespace of the provided object does not match the namespace sent on the request")
    return {**obj, "metadata": metadata}


def create(store, kind, namespace, body):
    obj = _admitted(kind, namespace, "", body)
    metadata = obj["metadata"]
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
    if not metadata.get("name"):
        raise status.invalid(kind, "", "metadata.name", None, "Required value: name or generateName is required")
    if metadata.get("resourceVersion"):
        raise status.bad_request("resourceVersion should not be set on objects to be created")
    metadata.pop("uid", None)
    if kind.status and kind.name != "Node":
        obj.pop("status", None)
    return store.create(kind, schemas.admit(kind, obj))


def update(store, kind, namespace, name, subresource, body):
    obj = _admitted(kind, namespace, name, body)
    with store.changed:
        before = store.need(kind, namespace, name)
        _check_version(kind, before, obj["metadata"], required=kind.custom or kind.versioned)
        return _replace(store, kind, before, obj, subresource)


def patch(store, kind, namespace, name, subresource, content_type, body):
    with store.changed:
        before = store.need(kind, namespace, name)
        patched = patches.apply(kind, content_type, before, body)
        obj = _admitted(kind, namespace, name, patched)
        _check_version(kind, before, obj["metadata"], required=False)
        return _replace(store, kind, before, obj, subresource)


def _check_version(kind, before, metadata, required):
    name = before["metadata"]["name"]
    if metadata.get("uid", before["metadata"]["uid"]) != before["metadata"]["uid"]:
        raise status.conflict(kind, name, f'Precondition failed: UID in precondition: {metadata["uid"]}, UID in object meta: '
                                          f'{before["metadata"]["uid"]}')
    version = metadata.get("resourceVersion", "")
    if not version and required:
        raise status.invalid(kind, name, "metadata.resourceVersion", "0x0", "Invalid value: must be specified for an update")
    if version and version != before["metadata"]["resourceVersion"]:
        raise status.conflict(kind, name)


def _replace(store, kind, before, obj, subresource):
    if subresource == "status":
        obj = {**before, "status": obj.get("status", {})}
    elif kind.status:
        obj = {key: value for key, value in obj.items() if key != "status"}
        if "status" in before:
            obj["status"] = before["status"]
    schemas.check_immutable(kind, before, obj)
    return store.replace(kind, schemas.admit(kind, obj))


def delete(store, kind, namespace, name, options, graceful):
    """Deletes an object. A pod with a grace period and an object with finalizers only get a deletionTimestamp; the test
    removes these objects."""
    options = options or {}
    with store.changed:
        before = store.need(kind, namespace, name)
        wanted = options.get("preconditions") or {}
        for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
            if field in wanted and wanted[field] != before["metadata"][field]:
                raise status.conflict(kind, name, f"Precondition failed: {label} in precondition: {wanted[field]}, {label} in "
                                                  f"object meta: {before['metadata'][field]}")
        if kind.name == "Pod" and graceful and options.get("gracePeriodSeconds") != 0:
            metadata = {"deletionTimestamp": storage.now(), "deletionGracePeriodSeconds": options.get("gracePeriodSeconds", 30),
                        **before["metadata"]}
            return store.replace(kind, {**before, "metadata": metadata})
        if before["metadata"].get("finalizers"):
            metadata = {"deletionTimestamp": storage.now(), **before["metadata"]}
            return store.replace(kind, {**before, "metadata": metadata})
        return store.remove(kind, namespace, name)
