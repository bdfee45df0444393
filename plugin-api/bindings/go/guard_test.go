// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"strings"
	"testing"
)

func placeOf(call func()) (place string) {
	defer func() {
		recover()
		place = placeOfPanic()
	}()
	call()
	return "it returned"
}

func TestThePlaceOfAPanicIsALineOfThePlugin(t *testing.T) {
	var nothing *Error
	var none map[string]int
	for name, call := range map[string]func(){
		"panic":        func() { panic("thrown") },
		"panic of nil": func() { panic(nil) },
		"nil pointer":  func() { nothing.Text = "" },
		"nil map":      func() { none["a"] = 1 },
		"index":        func() { _ = []int{}[len(none)] },
	} {
		if place := placeOf(call); !strings.Contains(place, "guard_test.go:") {
			t.Errorf("%s: found '%s'", name, place)
		}
	}
}
