// SPDX-License-Identifier: Apache-2.0
// Merges the changes of hooks into a request of CRI. All other fields keep their bytes, including fields that this
// version does not know.
//
//   labels, annotations, unified  by key
//   cgroup parent                 replaced, unless the change is empty
//   numbers of resources          replaced, even by -1 (no limit) and 0
//   cpusets                       replaced, unless the change is empty
//   environment                   an existing variable gets the new value in its place (if several have this name, the
//                                 last one, which is effective); others are appended
//   mounts, devices               an entry with the same path in the container is replaced, others are appended
//
// A request without resources gets them if a hook sets one. Pure. [any thread]
#pragma once

#include "core/criproxy/changes.hpp"

namespace koord::criproxy {

namespace wire {
class ContainerConfig;
class ContainerHookRequest;
class ContainerHookResponse;
class PodConfig;
class PodHookRequest;
class PodHookResponse;
class Resources;
}  // namespace wire

void merge(const ResourceChanges& changes, wire::Resources& resources);
// Does not change the resources of a pod, because the agent itself writes the pod's cgroup.
void merge(const Changes& changes, wire::PodConfig& pod);
void merge(const Changes& changes, wire::ContainerConfig& container);

// Merges a kubelet's update, which contains only the changed values, into the known resources of the container.
void merge_update(const wire::Resources& update, wire::Resources& known);

// Returns the differences between the request to a hook server and its answer. Hook servers of koordlet echo the
// request. In proto3 a missing field cannot be distinguished from zero or an empty text, so these count as unchanged.
Changes changes_of(const wire::PodHookRequest& request, const wire::PodHookResponse& response);
Changes changes_of(const wire::ContainerHookRequest& request, const wire::ContainerHookResponse& response);

}  // namespace koord::criproxy
