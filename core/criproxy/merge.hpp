// SPDX-License-Identifier: Apache-2.0
// Merges the changes of hooks into a request of CRI. Fields that no hook set keep their bytes, and so do fields unknown
// here.
//
//   labels, annotations, unified  by key
//   cgroup parent                 replaced, unless the change is empty
//   numbers of resources          replaced, also by -1 (no limit) and 0
//   cpusets                       replaced by a value that is set; a hook that says nothing leaves them
//   environment                   a variable that exists gets the value at its place (of several of one name the last,
//                                 which holds); others are appended
//   mounts, devices               one with the same path in the container is replaced, others are appended
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
// Resources of a pod are left alone: the agent writes the pod's cgroup itself.
void merge(const Changes& changes, wire::PodConfig& pod);
void merge(const Changes& changes, wire::ContainerConfig& container);

// A kubelet's update names only what it changes: `update` over what is known of the container.
void merge_update(const wire::Resources& update, wire::Resources& known);

// The difference between what a hook server was sent and what it answers. Hook servers of koordlet echo the request; in
// proto3 a field that one leaves out cannot be distinguished from zero or the empty text, so those are no changes.
Changes changes_of(const wire::PodHookRequest& request, const wire::PodHookResponse& response);
Changes changes_of(const wire::ContainerHookRequest& request, const wire::ContainerHookResponse& response);

}  // namespace koord::criproxy
