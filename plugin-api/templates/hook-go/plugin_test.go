package main

import (
	"testing"

	"koordinator.sh/koordetector"
)

func TestOnlyBestEffortContainersAreTold(t *testing.T) {
	if n, told := threadsOf(koordetector.KubeQoSBestEffort, 2); n != 2 || !told {
		t.Errorf("best-effort: found %d, %v, expected 2, true", n, told)
	}
	if _, told := threadsOf(koordetector.KubeQoSGuaranteed, 2); told {
		t.Error("guaranteed: found true, expected false")
	}
}
