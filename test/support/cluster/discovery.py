# SPDX-License-Identifier: Apache-2.0
"""Discovery: the version, groups and resources of the server, and its health."""
from . import eviction, kinds

_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


def version(minor):
    return {"major": "1", "minor": str(minor), "gitVersion": f"v1.{minor}.0", "gitCommit": "0" * 40, "gitTreeState": "clean",
            "buildDate": "2024-01-01T00:00:00Z", "goVersion": "go1.22", "compiler": "gc", "platform": "linux/amd64"}


def _group(name, aggregated):
    versions = sorted({kind.version for kind in kinds.KINDS if kind.group == name}
                      | {version for group, version in aggregated if group == name})
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resource(name, kind, verbs, **more):
    return {"name": name, "singularName": kind.name.lower() if "/" not in name else "", "namespaced": kind.namespaced,
            "kind": kind.name, "verbs": verbs, **more}


def _resources(group, version, minor, missing):
    resources = []
    for kind in kinds.KINDS:
        if (kind.group, kind.version) != (group, version) or kind.name in missing:
            continue
        resources.append(_resource(kind.plural, kind, _VERBS))
        if kind.status:
            resources.append(_resource(f"{kind.plural}/status", kind, ["get", "patch", "update"]))
        if kind.name == "Pod":
            resources.append({"name": "pods/eviction", "singularName": "", "namespaced": True, "group": "policy",
                              "version": eviction.versions(minor)[0], "kind": "Eviction", "verbs": ["create"]})
            resources.append({**_resource("pods/exec", kind, ["create", "get"]), "kind": "PodExecOptions"})
    if not resources:
        return None
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}" if group else version,
            "resources": resources}


def answer(path, minor, missing, aggregated=()):
    """Returns the object or text at a path outside of resources; None if unknown. `aggregated`: groups and versions of
    APIServices."""
    parts = path.strip("/").split("/")
    groups = sorted({kind.group for kind in kinds.KINDS if kind.group and kind.name not in missing} | {group for group, _ in aggregated})
    if path in ("/healthz", "/livez", "/readyz"):
        return "ok"
    if path == "/version":
        return version(minor)
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/api/v1":
        return _resources("", "v1", minor, missing)
    if path == "/openapi/v3":
        return {"paths": {f"apis/{group}/{version}": {"serverRelativeURL": f"/openapi/v3/apis/{group}/{version}?hash=0"}
                          for group, version in aggregated}}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group, aggregated) for group in groups]}
    if len(parts) == 2 and parts[0] == "apis" and parts[1] in groups:
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], aggregated)}
    if len(parts) == 3 and parts[0] == "apis":
        return _resources(parts[1], parts[2], minor, missing)
    return None
