// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include "call.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
)

// Runs a call of the host and lets nothing out: an error becomes its status and text, and so does a panic.
func guard(host Host, call func() error) (status C.koord_status) {
	returned := false
	defer func() {
		thrown := recover()
		if !returned { // and not by `thrown`, which is nil after panic(nil)
			status = host.fail(Errorf(ErrPanic, "%v%s", thrown, placeOfPanic()))
		}
	}()
	status = host.fail(call())
	returned = true
	return status
}

// The line that panicked, as " (file:line)"; asked in the deferred function, when it is still on the stack.
func placeOfPanic() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicking := false; ; {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			return fmt.Sprintf(" (%s:%d)", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
