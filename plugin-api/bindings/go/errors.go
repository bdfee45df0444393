// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include <koordetector/plugin.h>
import "C"

import (
	"errors"
	"fmt"
)

// Status is the result of a call of the ABI. It is also an error: errors.Is(err, ErrGone), return ErrAgain.
type Status int32

// The statuses except success, which is a nil error.
const (
	ErrInvalid     Status = C.KOORD_E_INVALID
	ErrUnsupported Status = C.KOORD_E_UNSUPPORTED
	ErrAgain       Status = C.KOORD_E_AGAIN
	ErrDeadline    Status = C.KOORD_E_DEADLINE
	ErrTooNew      Status = C.KOORD_E_TOO_NEW
	ErrDenied      Status = C.KOORD_E_DENIED
	ErrNoMemory    Status = C.KOORD_E_NOMEM
	ErrPanic       Status = C.KOORD_E_PANIC
	ErrGone        Status = C.KOORD_E_GONE
	ErrNotFound    Status = C.KOORD_E_NOT_FOUND
	ErrTooSmall    Status = C.KOORD_E_TOO_SMALL
	ErrIO          Status = C.KOORD_E_IO
)

var statusTexts = map[Status]string{
	ErrInvalid:     "an argument is wrong",
	ErrUnsupported: "not supported here",
	ErrAgain:       "not now",
	ErrDeadline:    "the deadline has passed",
	ErrTooNew:      "a record is of a later version",
	ErrDenied:      "not granted",
	ErrNoMemory:    "out of memory",
	ErrPanic:       "a panic",
	ErrGone:        "it has ended",
	ErrNotFound:    "not found",
	ErrTooSmall:    "the buffer is too small",
	ErrIO:          "input or output failed",
}

func (s Status) Error() string {
	if text, known := statusTexts[s]; known {
		return text
	}
	return fmt.Sprintf("status %d", int32(s))
}

// Error is a status with its reason. Returned from a plugin's method, it becomes that call's status and text.
type Error struct {
	Status Status
	Text   string // empty: the host has reported the reason
}

// Errorf returns an error of the plugin itself, with a sentence for the operator.
func Errorf(status Status, format string, arguments ...any) error {
	return &Error{status, fmt.Sprintf(format, arguments...)}
}

func (e *Error) Error() string {
	if e.Text == "" {
		return "the host answered: " + e.Status.Error()
	}
	return e.Text
}

// Unwrap returns the status, for errors.Is.
func (e *Error) Unwrap() error { return e.Status }

func check(status C.koord_status) error {
	if status == C.KOORD_OK {
		return nil
	}
	return &Error{Status: Status(status)}
}

// Returns the status of an error. An error without a status comes from the plugin's own I/O, such as package os.
func statusOf(err error) Status {
	var status Status
	if errors.As(err, &status) && status != C.KOORD_OK {
		return status
	}
	return ErrIO
}

// Returns whether the error has its own text. Otherwise the host's text of the failure is better than the status in
// words.
func hasText(err error) bool {
	switch known := err.(type) {
	case *Error:
		return known.Text != ""
	case Status:
		return false
	}
	return true
}
