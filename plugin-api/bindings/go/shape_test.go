// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

type failsToClose struct{}

func (failsToClose) Close() error { return errors.New("busy") }

type closesQuietly struct{ times *int }

func (c closesQuietly) Close() { *c.times++ }

type stopsWithoutError struct{}

func (stopsWithoutError) Stop() {}

func TestCloseIsCalledWithAndWithoutAnError(t *testing.T) {
	times := 0
	if err := closed(failsToClose{}); err == nil || err.Error() != "busy" {
		t.Errorf("found %v, expected the error of Close", err)
	}
	if err := closed(closesQuietly{&times}); err != nil || times != 1 {
		t.Errorf("found %v and %d calls, expected one call", err, times)
	}
	if err := closed(struct{}{}); err != nil {
		t.Errorf("found %v for a plugin without Close", err)
	}
}

func TestAMethodOfAnotherShapeIsAnErrorAndNotIgnored(t *testing.T) {
	err := misshapen(reflect.TypeOf(stopsWithoutError{}))
	if err == nil || !strings.Contains(err.Error(), "has the method Stop as") {
		t.Errorf("found %v, expected the method and both shapes", err)
	}
	for _, plugin := range []any{failsToClose{}, closesQuietly{}, struct{}{}} {
		if err := misshapen(reflect.TypeOf(plugin)); err != nil {
			t.Errorf("found %v for %T", err, plugin)
		}
	}
}
