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

// The four kinds of plugins. Their methods are called one at a time, on any goroutine, except for Handle.

// Advisor is "koord.advisor/1": collects metrics. One with a Run and no Period is not called, but has to have the method.
type Advisor interface {
	// Collect is one tick. If it runs past the deadline, the next ticks are skipped.
	Collect(now, deadline Time) error
}

// ExternalAdvisor is "koord.external-advisor/1": brings in another program's metrics; the host scrapes.
type ExternalAdvisor interface {
	// URL is "http://127.0.0.1:9100/metrics" or "unix:/run/x.sock:/metrics"; asked at start and after OnConfig.
	URL() (string, error)
}

// QosStrategy is "koord.qos-strategy/1": decides which knobs to turn, through Knobs only.
type QosStrategy interface {
	// Evaluate is one decision.
	Evaluate(now, deadline Time) error
}

// RuntimeHook is "koord.runtime-hook/1": adjusts pods and containers as they are made.
type RuntimeHook interface {
	// Handle is a pure function of the request; several at once unless the class is Serial.
	Handle(request HookRequest, response HookResponse) error
}

// Optional methods of any of them. A method of one of these names with other arguments or results ends the
// plugin with a panic that names the expected ones. Close, with or without an error, is called last, when Run
// has returned.

// EventHandler hears of what State.Subscribe asked for, and of OnConfig.
type EventHandler interface {
	OnEvent(what Parts, version uint64) error
}

// Runner waits for events itself, on a goroutine of its own. Run returns when the context is cancelled, within 2 s.
type Runner interface {
	Run(ctx context.Context) error
}

// Stopper hears that no further tick will come; Run may still run.
type Stopper interface {
	Stop() error
}

// SampleMapper is an ExternalAdvisor that sees each scraped sample: its new value, and false to drop it.
type SampleMapper interface {
	MapSample(name string, labels Labels, value float64) (float64, bool)
}

// MetricMapper is an ExternalAdvisor that says what each of the endpoint's metrics is called here, and false to leave it
// out; asked once for each.
type MetricMapper interface {
	MapMetric(name string) (string, bool)
}

// AppliedHandler is a QosStrategy that receives the results of its plan.
type AppliedHandler interface {
	OnApplied(results []IntentResult) error
}

// Class is how a plugin of one kind is known to the host.
type Class struct {
	Name         string        // unique in the module
	Period       time.Duration // between ticks; the configuration may say otherwise. 0: no ticks
	ConfigSchema string        // JSON Schema for Config, checked before the plugin is made; "": anything goes
	Serial       bool          // never call Handle twice at once
}

type creation func(Host) (any, error)

// By class name. Filled in by the author's init functions, read afterwards.
var creations = map[string]creation{}

// AddAdvisor says, in an init function, that the plugin has this advisor. The host has it made by create: get services,
// define metrics, open files. ErrUnsupported: this node cannot have this plugin, which is listed as absent and not tried
// again.
//
// The methods of P besides Collect are found by its type, so it must be the plugin's own and not an
// interface.
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
