// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include "call.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
)

// Runs a call of the host. No panic leaves it, because an error or a panic becomes the call's status and text.
func guard(host Host, call func() error) (status C.koord_status) {
	returned := false
	defer func() {
		thrown := recover()
		if !returned { // not `thrown != nil`, because panic(nil) makes it nil
			status = host.fail(Errorf(ErrPanic, "%v%s", thrown, placeOfPanic()))
		}
	}()
	status = host.fail(call())
	returned = true
	return status
}

// Returns the line that panicked as " (file:line)". Call it in the deferred function, while the line is still on the
// stack.
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
