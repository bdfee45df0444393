// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestAnErrorIsItsStatus(t *testing.T) {
	for _, err := range []error{ErrAgain, &Error{Status: ErrAgain}, Errorf(ErrAgain, "no %s yet", "pod")} {
		if !errors.Is(err, ErrAgain) || errors.Is(err, ErrGone) {
			t.Errorf("%#v is another", err)
		}
	}
}

func TestAWrappedErrorKeepsItsStatus(t *testing.T) {
	if status := statusOf(fmt.Errorf("reading: %w", Errorf(ErrGone, "it ended"))); status != ErrGone {
		t.Errorf("found %d", status)
	}
}

func TestAnErrorWithoutAStatusIsOneOfReading(t *testing.T) {
	if status := statusOf(fs.ErrNotExist); status != ErrIO {
		t.Errorf("found %d", status)
	}
}

func TestTheHostsOwnWordsAreKept(t *testing.T) {
	host := &Error{Status: ErrIO}
	for err, expected := range map[error]bool{host: false, ErrIO: false, Errorf(ErrIO, "mine"): true,
		fmt.Errorf("reading: %w", host): true} {
		if hasText(err) != expected {
			t.Errorf("%v: expected %v", err, expected)
		}
	}
}

func TestAnUnknownStatusIsNamedByItsNumber(t *testing.T) {
	if text := Status(-99).Error(); text != "status -99" {
		t.Errorf("found %q", text)
	}
}
