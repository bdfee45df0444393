// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

static inline koord_status response_set(const koord_hook_response *response, _GoString_ field, _GoString_ value) {
  return KOORD_GO_CALL(response, set, response, KOORD_GO_TEXT(field), KOORD_GO_TEXT(value));
}
static inline koord_status response_reject(const koord_hook_response *response, _GoString_ why) {
  return KOORD_GO_CALL(response, reject, response, KOORD_GO_TEXT(why));
}
static inline koord_status response_scale(const koord_hook_response *response, _GoString_ field, double factor) {
  return KOORD_GO_CALL(response, scale, response, KOORD_GO_TEXT(field), factor);
}
*/
import "C"

// Stages of a runtime hook; several are or-ed.
type Stages uint32

// The stages.
const (
	PreRunPodSandbox            Stages = C.KOORD_STAGE_PRE_RUN_POD_SANDBOX
	PostStopPodSandbox          Stages = C.KOORD_STAGE_POST_STOP_POD_SANDBOX
	PreRemoveRunPodSandbox      Stages = C.KOORD_STAGE_PRE_REMOVE_RUN_POD_SANDBOX
	PreCreateContainer          Stages = C.KOORD_STAGE_PRE_CREATE_CONTAINER
	PreStartContainer           Stages = C.KOORD_STAGE_PRE_START_CONTAINER
	PostStartContainer          Stages = C.KOORD_STAGE_POST_START_CONTAINER
	PreUpdateContainerResources Stages = C.KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES
	PostStopContainer           Stages = C.KOORD_STAGE_POST_STOP_CONTAINER
)

// HookRequest is the request to a hook.
type HookRequest struct {
	Stage     Stages
	Deadline  Time
	Pod       *Pod
	Container *Container // nil at the pod stages
	NodeSLO   string     // JSON
	CRI       string     // the runtime's own request, as JSON
}

func copiedRequest(raw *C.koord_hook_request) HookRequest {
	request := HookRequest{Stage: Stages(raw.stage), Deadline: Time(raw.deadline_ns), NodeSLO: text(raw.node_slo),
		CRI: text(raw.cri_json)}
	if raw.pod != nil {
		pod := copiedPod(raw.pod)
		request.Pod = &pod
	}
	if raw.container != nil {
		container := copiedContainer(raw.container)
		request.Container = &container
	}
	return request
}

// HookResponse is the response of a hook. It belongs to the host; do not keep it.
type HookResponse struct{ raw *C.koord_hook_response }

// Set sets a field: "linux.cpu.shares", "linux.cpuset.cpus", "env:NAME", "device:/dev/NAME", "mount:/PATH", …; plugin.h
// has the list.
func (r HookResponse) Set(field, value string) error {
	return check(C.response_set(r.raw, field, value))
}

// Reject forbids the runtime to create the pod or container.
func (r HookResponse) Reject(why string) error { return check(C.response_reject(r.raw, why)) }

// Scale multiplies "linux.cpu.quota" or "linux.memory.limit".
func (r HookResponse) Scale(field string, factor float64) error {
	return check(C.response_scale(r.raw, field, C.double(factor)))
}
