// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

typedef struct koord_go_verdicts {
  const koord_verdict *first;
  uint32_t n, stride;
} koord_go_verdicts;

static inline koord_status verdict_post(const koord_host *host, const koord_svc_verdict *verdict,
                                        const koord_verdict *verdicts, uint32_t n) {
  return KOORD_GO_CALL(verdict, post, host, verdicts, n, sizeof(koord_verdict));
}
static inline koord_status verdict_end(const koord_host *host, const koord_svc_verdict *verdict, uint64_t victim,
                                       uint32_t resource, uint32_t kind, _GoString_ why) {
  return KOORD_GO_CALL(verdict, end, host, victim, resource, kind, KOORD_GO_TEXT(why));
}
static inline koord_status verdict_acquire(const koord_host *host, const koord_svc_verdict *verdict,
                                           const koord_verdict_list **list) {
  return KOORD_GO_CALL(verdict, acquire, host, list);
}
static inline void verdict_release(const koord_host *host, const koord_svc_verdict *verdict,
                                   const koord_verdict_list *list) {
  if (KOORD_HAS(verdict, release)) verdict->release(host, list);
}
static inline koord_go_verdicts verdict_verdicts(const koord_svc_verdict *verdict, const koord_verdict_list *list) {
  koord_go_verdicts verdicts = {NULL, 0, 0};
  if (KOORD_HAS(verdict, verdicts)) verdicts.first = verdict->verdicts(list, &verdicts.n, &verdicts.stride);
  return verdicts;
}
static inline uint64_t verdict_generation(const koord_svc_verdict *verdict, const koord_verdict_list *list) {
  return KOORD_HAS(verdict, generation) ? verdict->generation(list) : 0;
}
static inline koord_status verdict_subscribe(const koord_host *host, const koord_svc_verdict *verdict, int32_t on) {
  return KOORD_GO_CALL(verdict, subscribe, host, on);
}
*/
import "C"

import "time"

// VerdictKind is the cause that a verdict names.
type VerdictKind uint32

// The kinds of verdicts.
const (
	Interfered      VerdictKind = C.KOORD_VERDICT_INTERFERED
	SelfQuota       VerdictKind = C.KOORD_VERDICT_SELF_QUOTA
	SelfThreads     VerdictKind = C.KOORD_VERDICT_SELF_THREADS
	SelfMemoryLimit VerdictKind = C.KOORD_VERDICT_SELF_MEMORY_LIMIT
	SharedParent    VerdictKind = C.KOORD_VERDICT_SHARED_PARENT
	UnknownCause    VerdictKind = C.KOORD_VERDICT_UNKNOWN
)

// VerdictResource is the resource for which the victim waits.
type VerdictResource uint32

// The resources of verdicts.
const (
	CPUResource    VerdictResource = C.KOORD_RESOURCE_CPU
	BlkioResource  VerdictResource = C.KOORD_RESOURCE_BLKIO
	MemoryResource VerdictResource = C.KOORD_RESOURCE_MEMORY
	CacheResource  VerdictResource = C.KOORD_RESOURCE_CACHE
)

// VerdictMethod is the method by which the suspects were found.
type VerdictMethod uint32

// The methods.
const (
	Exact     VerdictMethod = C.KOORD_METHOD_EXACT
	Estimated VerdictMethod = C.KOORD_METHOD_ESTIMATED
	Suspected VerdictMethod = C.KOORD_METHOD_SUSPECTED
)

// SuspectKind is the kind of a suspect.
type SuspectKind uint32

// The kinds of suspects.
const (
	SuspectSubject SuspectKind = C.KOORD_SUSPECT_SUBJECT
	SuspectOutside SuspectKind = C.KOORD_SUSPECT_OUTSIDE // cgroups of the node that belong to no pod
	SuspectKernel  SuspectKind = C.KOORD_SUSPECT_KERNEL  // the kernel's own threads
	SuspectOther   SuspectKind = C.KOORD_SUSPECT_OTHER   // described by Name
)

// VerdictOrigin states whether the plugin of a verdict is one of the node's own.
type VerdictOrigin uint32

// The origins.
const (
	OwnOrigin        VerdictOrigin = C.KOORD_ORIGIN_OWN
	ThirdPartyOrigin VerdictOrigin = C.KOORD_ORIGIN_THIRD_PARTY
)

// Suspect used the resource while the victim waited. math.NaN() means unknown.
type Suspect struct {
	Kind                 SuspectKind
	Subject              Subject // only for SuspectSubject
	Name                 string  // set by the host if the suspect is a subject
	Value, Share, Excess float64 // in AmountUnit; 0 to 1; Value minus the value in quiet times
	Usage, Request       float64 // CPUs, bytes, or bytes per second
}

func copiedSuspect(raw *C.koord_suspect) Suspect {
	return Suspect{SuspectKind(raw.kind), Subject(raw.subject), text(raw.name), float64(raw.value), float64(raw.share),
		float64(raw.excess), float64(raw.usage), float64(raw.request)}
}

// Verdict states that a container is slowed down. math.NaN() means unknown.
type Verdict struct {
	Kind                        VerdictKind
	Resource                    VerdictResource
	Method                      VerdictMethod
	Victim                      Subject
	From, To                    Time
	WindowsOver, WindowsSeen    uint32
	Statistic, StatisticUnit    string
	Value, Baseline, Threshold  float64
	AmountUnit                  string // unit of the next values and of the suspects' values
	Own, Throttled, Unexplained float64
	Suspects                    []Suspect // the largest value first
	Others                      Labels    // other evaluated resources, with their findings
	Note                        string
	TTL                         time.Duration // ends unless posted again within this time; 0: a minute
	// Written by the host, ignored by Post.
	ID         uint64
	Since      Time
	Plugin     string
	VictimName string
	Origin     VerdictOrigin
}

func copiedVerdict(raw *C.koord_verdict) Verdict {
	return Verdict{
		Kind:          VerdictKind(raw.kind),
		Resource:      VerdictResource(raw.resource),
		Method:        VerdictMethod(raw.method),
		Victim:        Subject(raw.victim),
		From:          Time(raw.from_ns),
		To:            Time(raw.to_ns),
		WindowsOver:   uint32(raw.windows_over),
		WindowsSeen:   uint32(raw.windows_seen),
		Statistic:     text(raw.statistic),
		StatisticUnit: text(raw.statistic_unit),
		Value:         float64(raw.value),
		Baseline:      float64(raw.baseline),
		Threshold:     float64(raw.threshold),
		AmountUnit:    text(raw.amount_unit),
		Own:           float64(raw.own),
		Throttled:     float64(raw.throttled),
		Unexplained:   float64(raw.unexplained),
		Suspects:      records(raw.suspects, raw.n_suspects, raw.suspect_stride, copiedSuspect),
		Others:        labels(raw.others, raw.n_others, raw.other_stride),
		Note:          text(raw.note),
		TTL:           time.Duration(raw.ttl_ns),
		ID:            uint64(raw.id),
		Since:         Time(raw.since_ns),
		Plugin:        text(raw.plugin),
		VictimName:    text(raw.victim_name),
		Origin:        VerdictOrigin(raw.origin),
	}
}

func (l *loan) suspects(suspects []Suspect) []C.koord_suspect {
	raw := lend[C.koord_suspect](l, len(suspects))
	for i, suspect := range suspects {
		raw[i] = C.koord_suspect{struct_size: C.sizeof_koord_suspect, kind: C.uint32_t(suspect.Kind),
			subject: C.uint64_t(suspect.Subject), name: l.text(suspect.Name), value: C.double(suspect.Value),
			share: C.double(suspect.Share), excess: C.double(suspect.Excess), usage: C.double(suspect.Usage),
			request: C.double(suspect.Request)}
	}
	return raw
}

// Verdicts is the service koord.verdict/1.
type Verdicts struct{ service[C.koord_svc_verdict] }

// Post adds verdicts, or replaces standing verdicts with the same victim, resource and kind. It posts all verdicts or
// none.
func (v Verdicts) Post(verdicts ...Verdict) error {
	var l loan
	defer l.end()
	raw := lend[C.koord_verdict](&l, len(verdicts))
	for i, verdict := range verdicts {
		suspects, others := l.suspects(verdict.Suspects), l.labels(verdict.Others)
		raw[i] = C.koord_verdict{struct_size: C.sizeof_koord_verdict, kind: C.uint32_t(verdict.Kind),
			resource: C.uint32_t(verdict.Resource), method: C.uint32_t(verdict.Method), victim: C.uint64_t(verdict.Victim),
			from_ns: C.uint64_t(verdict.From), to_ns: C.uint64_t(verdict.To),
			windows_over: C.uint32_t(verdict.WindowsOver), windows_seen: C.uint32_t(verdict.WindowsSeen),
			statistic: l.text(verdict.Statistic), statistic_unit: l.text(verdict.StatisticUnit),
			value: C.double(verdict.Value), baseline: C.double(verdict.Baseline), threshold: C.double(verdict.Threshold),
			amount_unit: l.text(verdict.AmountUnit), own: C.double(verdict.Own), throttled: C.double(verdict.Throttled),
			unexplained: C.double(verdict.Unexplained), suspects: first(suspects), n_suspects: C.uint32_t(len(suspects)),
			suspect_stride: C.sizeof_koord_suspect, others: first(others), n_others: C.uint32_t(len(others)),
			other_stride: C.sizeof_koord_label, note: l.text(verdict.Note), ttl_ns: C.uint64_t(verdict.TTL)}
	}
	return check(C.verdict_post(v.host, v.table, first(raw), C.uint32_t(len(raw))))
}

// End ends a standing verdict of this plugin. ErrNotFound: the verdict does not stand, which is normal after the end of
// its victim.
func (v Verdicts) End(victim Subject, resource VerdictResource, kind VerdictKind, why string) error {
	return check(C.verdict_end(v.host, v.table, C.uint64_t(victim), C.uint32_t(resource), C.uint32_t(kind), why))
}

// List returns copies of the standing verdicts of all plugins, ordered by id, and their generation. The generation
// increases when a verdict begins, ends, or changes its method or suspects. Check Origin and Plugin before acting on a
// verdict.
func (v Verdicts) List() ([]Verdict, uint64, error) {
	var list *C.koord_verdict_list
	if err := check(C.verdict_acquire(v.host, v.table, &list)); err != nil {
		return nil, 0, err
	}
	defer C.verdict_release(v.host, v.table, list)
	lent := C.verdict_verdicts(v.table, list)
	return records(lent.first, lent.n, lent.stride, copiedVerdict), uint64(C.verdict_generation(v.table, list)), nil
}

// Subscribe requests OnEvent calls with OnVerdicts when the generation has increased.
func (v Verdicts) Subscribe(on bool) error {
	number := C.int32_t(0)
	if on {
		number = 1
	}
	return check(C.verdict_subscribe(v.host, v.table, number))
}
