// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"syscall"
	"testing"
	"time"
)

func pipe(t *testing.T) (reading, writing int) {
	t.Helper()
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(ends[0]) })
	return ends[0], ends[1]
}

func TestTheContextIsCancelledByTheStopSignal(t *testing.T) {
	stop, fire := pipe(t)
	ctx, end, err := untilReadable(stop)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if ctx.Err() != nil {
		t.Error("cancelled before the signal")
	}
	syscall.Close(fire)
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("not cancelled by the signal")
	}
}

func TestWatchingEndsWithoutASignal(t *testing.T) {
	stop, fire := pipe(t)
	defer syscall.Close(fire)
	ctx, end, err := untilReadable(stop)
	if err != nil {
		t.Fatal(err)
	}
	end()
	if ctx.Err() == nil {
		t.Error("the context outlives the watching")
	}
}
