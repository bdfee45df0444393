// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include <stdlib.h>
#include "call.h"

static inline const void *host_service(const koord_host *host, const char *id) { return host->get_service(host, id); }
static inline void host_log(const koord_host *host, int32_t level, _GoString_ message) {
  host->log(host, level, KOORD_GO_TEXT(message));
}
static inline void host_set_error(const koord_host *host, koord_status status, _GoString_ why) {
  host->set_error(host, status, KOORD_GO_TEXT(why));
}
*/
import "C"

import (
	"fmt"
	"strings"
	"time"
	"unsafe"
)

// Time is host time in nanoseconds: it never steps, includes suspend, and continues across restarts of the host.
type Time uint64

// Sub returns the interval since an earlier time.
func (t Time) Sub(earlier Time) time.Duration { return time.Duration(t - earlier) }

// Add returns the time plus an interval.
func (t Time) Add(interval time.Duration) Time { return t + Time(interval) }

// Level of a line in the log.
type Level int32

// The levels.
const (
	LogDebug Level = C.KOORD_LOG_DEBUG
	LogInfo  Level = C.KOORD_LOG_INFO
	LogWarn  Level = C.KOORD_LOG_WARN
	LogError Level = C.KOORD_LOG_ERROR
)

// Host is an instance's access to its host. Get services once, when the plugin is created.
type Host struct{ raw *C.koord_host }

// Logf writes one line into the agent's log. It never blocks; the host adds the plugin's id.
func (h Host) Logf(level Level, format string, arguments ...any) {
	C.host_log(h.raw, C.int32_t(level), fmt.Sprintf(format, arguments...))
}

// Sets the reason of the status that is returned next, and returns the status. [in-call]
func (h Host) fail(err error) C.koord_status {
	if err == nil {
		return C.KOORD_OK
	}
	status := C.koord_status(statusOf(err))
	if hasText(err) {
		C.host_set_error(h.raw, status, strings.ToValidUTF8(err.Error(), "?"))
	}
	return status
}

// A service's table, and the host, which is the first argument of its functions.
type service[Table any] struct {
	host  *C.koord_host
	table *Table
}

func ask[Table any](h Host, id string) (service[Table], error) {
	terminated := C.CString(id)
	defer C.free(unsafe.Pointer(terminated))
	table := (*Table)(C.host_service(h.raw, terminated))
	if table == nil {
		return service[Table]{}, Errorf(ErrUnsupported, "the host does not offer %s", id)
	}
	return service[Table]{h.raw, table}, nil
}

// Metrics is koord.metrics/1: each value goes to the history and to /metrics.
func (h Host) Metrics() (Metrics, error) {
	s, err := ask[C.koord_svc_metrics](h, "koord.metrics/1")
	return Metrics{s}, err
}

// State is koord.state/1: the node, its pods, NodeSLO and topology.
func (h Host) State() (State, error) {
	s, err := ask[C.koord_svc_state](h, "koord.state/1")
	return State{s}, err
}

// KV is koord.kv/1: facts that change rarely, with an expiry.
func (h Host) KV() (KV, error) {
	s, err := ask[C.koord_svc_kv](h, "koord.kv/1")
	return KV{s}, err
}

// Config is koord.config/1: this instance's own part of the configuration.
func (h Host) Config() (Config, error) {
	s, err := ask[C.koord_svc_config](h, "koord.config/1")
	return Config{s}, err
}

// Clock is koord.clock/1: host time and wall time.
func (h Host) Clock() (Clock, error) {
	s, err := ask[C.koord_svc_clock](h, "koord.clock/1")
	return Clock{s}, err
}

// FS is koord.fs/1: the node's trees, wherever they are mounted.
func (h Host) FS() (FS, error) {
	s, err := ask[C.koord_svc_fs](h, "koord.fs/1")
	return FS{s}, err
}

// Cgroup is koord.cgroup/1: typed cgroup values, the same on v1 and v2.
func (h Host) Cgroup() (Cgroup, error) {
	s, err := ask[C.koord_svc_cgroup](h, "koord.cgroup/1")
	return Cgroup{s}, err
}

// Capabilities is koord.capabilities/1: abilities of this node.
func (h Host) Capabilities() (Capabilities, error) {
	s, err := ask[C.koord_svc_capabilities](h, "koord.capabilities/1")
	return Capabilities{s}, err
}

// Knobs is koord.knobs/1, granted to QoS strategies.
func (h Host) Knobs() (Knobs, error) {
	s, err := ask[C.koord_svc_knobs](h, "koord.knobs/1")
	return Knobs{s}, err
}

// Evict is koord.evict/1, granted to QoS strategies.
func (h Host) Evict() (Evict, error) {
	s, err := ask[C.koord_svc_evict](h, "koord.evict/1")
	return Evict{s}, err
}

// Verdicts is koord.verdict/1: containers that are slowed down. Hosts of 1.0 do not have it.
func (h Host) Verdicts() (Verdicts, error) {
	s, err := ask[C.koord_svc_verdict](h, "koord.verdict/1")
	return Verdicts{s}, err
}

// Audit is koord.audit/1: the decision records.
func (h Host) Audit() (Audit, error) {
	s, err := ask[C.koord_svc_audit](h, "koord.audit/1")
	return Audit{s}, err
}
