// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include "module.h"
import "C"

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// The four kinds of plugins. Their methods are called one at a time, on any goroutine, except Handle.

// Advisor is "koord.advisor/1": collects metrics. Collect is required, but is not called for a plugin with Run and
// without Period.
type Advisor interface {
	// Collect runs one tick. If it runs past the deadline, the next ticks are skipped.
	Collect(now, deadline Time) error
}

// ExternalAdvisor is "koord.external-advisor/1": adds the metrics of a different program, which the host scrapes.
type ExternalAdvisor interface {
	// URL returns "http://127.0.0.1:9100/metrics" or "unix:/run/x.sock:/metrics". It is called at start and after
	// OnConfig.
	URL() (string, error)
}

// QosStrategy is "koord.qos-strategy/1": decides about knobs, and changes them only through Knobs.
type QosStrategy interface {
	// Evaluate makes one decision.
	Evaluate(now, deadline Time) error
}

// RuntimeHook is "koord.runtime-hook/1": adjusts pods and containers when they are created.
type RuntimeHook interface {
	// Handle is a pure function of the request. Several calls may run at the same time, unless the class is Serial.
	Handle(request HookRequest, response HookResponse) error
}

// Optional methods of all kinds. If a method has one of these names but other arguments or results, the plugin panics
// with a text that names the expected arguments and results. Close, with or without an error result, is called last,
// after Run has returned.

// EventHandler receives events for the parts given to State.Subscribe, and OnConfig.
type EventHandler interface {
	OnEvent(what Parts, version uint64) error
}

// Runner waits for events itself, on its own goroutine. Run must return within 2 s after the context is cancelled.
type Runner interface {
	Run(ctx context.Context) error
}

// Stopper is called when no further tick will come. Run may still be running.
type Stopper interface {
	Stop() error
}

// SampleMapper is an ExternalAdvisor that maps each scraped sample: it returns the new value, or false to drop the
// sample.
type SampleMapper interface {
	MapSample(name string, labels Labels, value float64) (float64, bool)
}

// MetricMapper is an ExternalAdvisor that maps the names of the endpoint's metrics: it returns the name on this node,
// or false to leave the metric out. Called once for each metric.
type MetricMapper interface {
	MapMetric(name string) (string, bool)
}

// AppliedHandler is a QosStrategy that receives the results of its plan.
type AppliedHandler interface {
	OnApplied(results []IntentResult) error
}

// Class describes a plugin of one kind to the host.
type Class struct {
	Name         string        // unique in the module
	Period       time.Duration // between ticks, unless the configuration sets it; 0: no ticks
	ConfigSchema string        // JSON Schema for Config, checked before the plugin is created; "": no check
	Serial       bool          // Handle is never called twice at the same time
}

type creation func(Host) (any, error)

// Creation functions by class name. The author's init functions fill the map; later it is only read.
var creations = map[string]creation{}

// AddAdvisor registers an advisor; call it in an init function. The host calls create to create the advisor. In create,
// get services, define metrics and open files. ErrUnsupported: this node cannot run the plugin; the host lists it as
// absent and does not try again.
//
// The optional methods are found by the type P, so P must be the plugin's own type and not an interface.
func AddAdvisor[P Advisor](class Class, create func(Host) (P, error)) {
	add(C.KOORD_GO_ADVISOR, class, 0, create)
}

// AddExternalAdvisor registers an external advisor. See AddAdvisor.
func AddExternalAdvisor[P ExternalAdvisor](class Class, create func(Host) (P, error)) {
	add(C.KOORD_GO_EXTERNAL_ADVISOR, class, 0, create)
}

// AddQosStrategy registers a QoS strategy. See AddAdvisor.
func AddQosStrategy[P QosStrategy](class Class, create func(Host) (P, error)) {
	add(C.KOORD_GO_QOS_STRATEGY, class, 0, create)
}

// AddRuntimeHook registers a runtime hook for these stages. See AddAdvisor.
func AddRuntimeHook[P RuntimeHook](class Class, stages Stages, create func(Host) (P, error)) {
	add(C.KOORD_GO_RUNTIME_HOOK, class, stages, create)
}

func add[P any](kind C.uint32_t, class Class, stages Stages, create func(Host) (P, error)) {
	var one P
	if any(one) == nil {
		panic(fmt.Sprintf("koordetector: class %q is made as an interface; name the plugin's own type", class.Name))
	}
	if err := misshapen(reflect.TypeOf(one)); err != nil {
		panic("koordetector: " + err.Error())
	}
	raw := C.koord_class{struct_size: C.sizeof_koord_class, name: C.CString(class.Name),
		period_ns: C.uint64_t(class.Period)}
	if class.ConfigSchema != "" {
		raw.config_schema = C.CString(class.ConfigSchema)
	}
	if class.Serial {
		raw.flags = C.KOORD_SERIAL
	}
	if C.koord_go_add(kind, raw, optional(one), C.uint32_t(stages)) == 0 {
		panic(fmt.Sprintf("koordetector: no room for class %q: a module has at most %d", class.Name, C.KOORD_GO_MAX_CLASSES))
	}
	creations[class.Name] = func(host Host) (any, error) { return create(host) }
}

// Returns the optional functions that the class's table has.
func optional(plugin any) (functions C.uint32_t) {
	has := func(function C.uint32_t, it bool) {
		if it {
			functions |= function
		}
	}
	_, handles := plugin.(EventHandler)
	_, runs := plugin.(Runner)
	_, stops := plugin.(Stopper)
	_, maps := plugin.(SampleMapper)
	_, names := plugin.(MetricMapper)
	_, applied := plugin.(AppliedHandler)
	has(C.KOORD_GO_ON_EVENT, handles)
	has(C.KOORD_GO_RUN, runs)
	has(C.KOORD_GO_STOP, stops)
	has(C.KOORD_GO_MAP_SAMPLE, maps)
	has(C.KOORD_GO_MAP_METRIC, names)
	has(C.KOORD_GO_ON_APPLIED, applied)
	return functions
}
