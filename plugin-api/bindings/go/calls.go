// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include "module.h"
import "C"

import (
	"context"
	"errors"
	"runtime/cgo"
	"unsafe"
)

// The Go value that belongs to the host's `self`.
type instance struct {
	host   Host
	create creation
	plugin any // nil before init
}

func (one *instance) Close() error { return closed(one.plugin) }

func instanceOf(self C.uintptr_t) *instance { return cgo.Handle(self).Value().(*instance) }

// Calls the plugin in the given role, inside the guard.
func with[Role any](self C.uintptr_t, call func(Role) error) C.koord_status {
	one := instanceOf(self)
	return guard(one.host, func() error {
		plugin, made := one.plugin.(Role)
		if !made {
			return Errorf(ErrInvalid, "called before init() succeeded")
		}
		return call(plugin)
	})
}

//export koordGoReady
func koordGoReady() {}

//export koordGoCreate
func koordGoCreate(host *C.koord_host, class *C.char, self *C.uintptr_t) C.koord_status {
	return guard(Host{host}, func() error {
		create, known := creations[C.GoString(class)]
		if !known {
			return Errorf(ErrInvalid, "there is no class '%s'", C.GoString(class))
		}
		*self = C.uintptr_t(cgo.NewHandle(&instance{host: Host{host}, create: create}))
		return nil
	})
}

//export koordGoInit
func koordGoInit(self C.uintptr_t) C.koord_status {
	one := instanceOf(self)
	return guard(one.host, func() error {
		plugin, err := one.create(one.host)
		if err == nil {
			one.plugin = plugin
		}
		return err
	})
}

//export koordGoRun
func koordGoRun(self C.uintptr_t, stop C.int32_t) C.koord_status {
	return with(self, func(runner Runner) error {
		ctx, end, err := untilReadable(int(stop))
		if err != nil {
			return err
		}
		defer end()
		if err = runner.Run(ctx); ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}

//export koordGoOnEvent
func koordGoOnEvent(self C.uintptr_t, what C.uint32_t, version C.uint64_t) C.koord_status {
	return with(self, func(handler EventHandler) error { return handler.OnEvent(Parts(what), uint64(version)) })
}

//export koordGoStop
func koordGoStop(self C.uintptr_t) C.koord_status {
	return with(self, func(stopper Stopper) error { return stopper.Stop() })
}

//export koordGoDestroy
func koordGoDestroy(self C.uintptr_t) {
	one := instanceOf(self)
	guard(one.host, one.Close)
	cgo.Handle(self).Delete()
}

//export koordGoCollect
func koordGoCollect(self C.uintptr_t, now, deadline C.uint64_t) C.koord_status {
	return with(self, func(advisor Advisor) error { return advisor.Collect(Time(now), Time(deadline)) })
}

//export koordGoURL
func koordGoURL(self C.uintptr_t, buffer *C.char, room C.uint64_t, need *C.uint64_t) C.koord_status {
	return with(self, func(advisor ExternalAdvisor) error {
		url, err := advisor.URL()
		if err != nil {
			return err
		}
		return answer(url, buffer, room, need)
	})
}

// Writes a text to the host's buffer, by the rule of the ABI.
func answer(text string, buffer *C.char, room C.uint64_t, need *C.uint64_t) error {
	*need = C.uint64_t(len(text))
	if *need > room {
		return ErrTooSmall
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(buffer)), int(room)), text)
	return nil
}

//export koordGoMapMetric
func koordGoMapMetric(self C.uintptr_t, name C.koord_str, buffer *C.char, room C.uint64_t, need *C.uint64_t) C.koord_status {
	return with(self, func(mapper MetricMapper) error {
		mapped, kept := mapper.MapMetric(text(name))
		if !kept {
			return ErrGone
		}
		return answer(mapped, buffer, room, need)
	})
}

//export koordGoMapSample
func koordGoMapSample(self C.uintptr_t, name C.koord_str, of *C.koord_label, n, stride C.uint32_t, value *C.double) C.koord_status {
	return with(self, func(mapper SampleMapper) error {
		mapped, kept := mapper.MapSample(text(name), labels(of, n, stride), float64(*value))
		if !kept {
			return ErrGone
		}
		*value = C.double(mapped)
		return nil
	})
}

//export koordGoEvaluate
func koordGoEvaluate(self C.uintptr_t, now, deadline C.uint64_t) C.koord_status {
	return with(self, func(strategy QosStrategy) error { return strategy.Evaluate(Time(now), Time(deadline)) })
}

//export koordGoOnApplied
func koordGoOnApplied(self C.uintptr_t, results *C.koord_intent_result, n, stride C.uint32_t) C.koord_status {
	return with(self, func(handler AppliedHandler) error {
		return handler.OnApplied(records(results, n, stride, copiedIntentResult))
	})
}

//export koordGoHandle
func koordGoHandle(self C.uintptr_t, request *C.koord_hook_request, response *C.koord_hook_response) C.koord_status {
	return with(self, func(hook RuntimeHook) error { return hook.Handle(copiedRequest(request), HookResponse{response}) })
}
