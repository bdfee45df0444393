// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

static inline koord_status knobs_propose(const koord_host *host, const koord_svc_knobs *knobs, const koord_intent *intents,
                                         uint32_t n) {
  return KOORD_GO_CALL(knobs, propose, host, intents, n, sizeof(koord_intent));
}
static inline koord_go_answer knobs_current(const koord_host *host, const koord_svc_knobs *knobs, _GoString_ knob,
                                            _GoString_ cgroup_dir, void *buf, uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status =
      KOORD_GO_CALL(knobs, current, host, KOORD_GO_TEXT(knob), KOORD_GO_TEXT(cgroup_dir), buf, cap, &answer.value);
  return answer;
}
static inline koord_go_answer knobs_base(const koord_host *host, const koord_svc_knobs *knobs, _GoString_ knob,
                                         _GoString_ cgroup_dir, void *buf, uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(knobs, base, host, KOORD_GO_TEXT(knob), KOORD_GO_TEXT(cgroup_dir), buf, cap, &answer.value);
  return answer;
}
static inline koord_status evict_request(const koord_host *host, const koord_svc_evict *evict,
                                         const koord_eviction *eviction) {
  return KOORD_GO_CALL(evict, request, host, eviction);
}
static inline koord_status audit_record(const koord_host *host, const koord_svc_audit *audit, uint64_t subject,
                                        _GoString_ what, _GoString_ why) {
  return KOORD_GO_CALL(audit, record, host, subject, KOORD_GO_TEXT(what), KOORD_GO_TEXT(why));
}
*/
import "C"

import (
	"time"
	"unsafe"
)

// IntentLevel is the level of the object that has the knob.
type IntentLevel uint32

// The levels of intents.
const (
	QoSLevel       IntentLevel = C.KOORD_LEVEL_QOS
	PodLevel       IntentLevel = C.KOORD_LEVEL_POD
	ContainerLevel IntentLevel = C.KOORD_LEVEL_CONTAINER
	NodeLevel      IntentLevel = C.KOORD_LEVEL_NODE // a knob of the whole node, so its cgroup is empty
)

// IntentRole is the way in which an intent contributes to a knob's value.
type IntentRole uint32

// The roles of intents. The value is the base times all scales, but at most the strictest cap and at least the largest
// floor.
const (
	SetRole   IntentRole = C.KOORD_ROLE_SET // the whole value
	BaseRole  IntentRole = C.KOORD_ROLE_BASE
	ScaleRole IntentRole = C.KOORD_ROLE_SCALE // the value is a factor, "1.5"
	CapRole   IntentRole = C.KOORD_ROLE_CAP
	FloorRole IntentRole = C.KOORD_ROLE_FLOOR
)

// Intent is a proposed value, or part of a value, for a knob of a cgroup. The host arbitrates, writes, verifies and
// reverts.
type Intent struct {
	Level     IntentLevel
	Knob      string // "cpu.max", "cpuset.cpus", …
	CgroupDir string
	Value     string
	Reason    string // one sentence for the decision record
	Inputs    Labels // values that the decision used
	Priority  int32  // the highest wins; among equal priorities the strictest value
	Flags     uint32
	TTL       time.Duration // withdrawn unless proposed again within this time
	Role      IntentRole
}

// IntentResult is the result of an intent.
type IntentResult struct {
	Status                      Status // 0: its value is in effect
	Knob, CgroupDir, FinalValue string
	Winner                      string // the plugin of the winning intent
}

func copiedIntentResult(raw *C.koord_intent_result) IntentResult {
	return IntentResult{Status(raw.status), text(raw.knob), text(raw.cgroup_dir), text(raw.final_value), text(raw.winner)}
}

// Knobs is the service koord.knobs/1.
type Knobs struct{ service[C.koord_svc_knobs] }

// Propose proposes intents. All intents of one Evaluate are one plan, which replaces the previous plan. [in-call:
// Evaluate]
func (k Knobs) Propose(intents ...Intent) error {
	var l loan
	defer l.end()
	raw := lend[C.koord_intent](&l, len(intents))
	for i, intent := range intents {
		inputs := l.labels(intent.Inputs)
		raw[i] = C.koord_intent{struct_size: C.sizeof_koord_intent, level: C.uint32_t(intent.Level),
			knob: l.text(intent.Knob), cgroup_dir: l.text(intent.CgroupDir), value: l.text(intent.Value),
			reason: l.text(intent.Reason), inputs: first(inputs), n_inputs: C.uint32_t(len(inputs)),
			input_stride: C.sizeof_koord_label, priority: C.int32_t(intent.Priority), flags: C.uint32_t(intent.Flags),
			ttl_ns: C.uint64_t(intent.TTL), role: C.uint32_t(intent.Role)}
	}
	return check(C.knobs_propose(k.host, k.table, first(raw), C.uint32_t(len(raw))))
}

// Base returns the value that the host uses for a knob without an intent; never a value that the host wrote.
func (k Knobs) Base(knob, cgroupDir string) (string, error) {
	value, err := filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.knobs_base(k.host, k.table, knob, cgroupDir, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
	return string(value), err
}

// Current returns the current value of a knob, which the host may have written.
func (k Knobs) Current(knob, cgroupDir string) (string, error) {
	value, err := filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.knobs_current(k.host, k.table, knob, cgroupDir, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
	return string(value), err
}

// Eviction is a request to release a resource by evicting pods.
type Eviction struct {
	Pods     []Subject // pods in eviction order
	Resource string    // the scarce resource: "cpu", "memory"
	Reason   string
	Amount   int64 // milli-cores or bytes; the host stops when this is released
	Inputs   Labels
}

// Evict is the service koord.evict/1.
type Evict struct{ service[C.koord_svc_evict] }

// Request requests an eviction. [in-call: Evaluate]
func (e Evict) Request(eviction Eviction) error {
	var l loan
	defer l.end()
	pods := lend[C.uint64_t](&l, len(eviction.Pods))
	for i, pod := range eviction.Pods {
		pods[i] = C.uint64_t(pod)
	}
	inputs := l.labels(eviction.Inputs)
	raw := lend[C.koord_eviction](&l, 1)
	raw[0] = C.koord_eviction{struct_size: C.sizeof_koord_eviction, n_pods: C.uint32_t(len(pods)), pods: first(pods),
		resource: l.text(eviction.Resource), reason: l.text(eviction.Reason), amount: C.int64_t(eviction.Amount),
		inputs: first(inputs), n_inputs: C.uint32_t(len(inputs)), input_stride: C.sizeof_koord_label}
	return check(C.evict_request(e.host, e.table, first(raw)))
}

// Audit is the service koord.audit/1.
type Audit struct{ service[C.koord_svc_audit] }

// Record records an action or observation, its subject, and the reason.
func (a Audit) Record(subject Subject, what, why string) error {
	return check(C.audit_record(a.host, a.table, C.uint64_t(subject), what, why))
}
