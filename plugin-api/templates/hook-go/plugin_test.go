package main

import (
	"testing"

	"koordinator.sh/koordetector"
)

func TestOnlyPodsWithTheLabelAreInteractive(t *testing.T) {
	if !isInteractive(koordetector.Labels{"app": "cart", "example.com/tier": "interactive"}) {
		t.Error("interactive: found false, expected true")
	}
	for _, labels := range []koordetector.Labels{nil, {"example.com/tier": "batch"}} {
		if isInteractive(labels) {
			t.Errorf("%v: found true, expected false", labels)
		}
	}
}
