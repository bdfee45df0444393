package main

import "testing"

func TestAThousandMilliCoresAreAWholePeriod(t *testing.T) {
	for milliCores, expected := range map[int64]string{1000: "100000 100000", 10: "1000 100000"} {
		if found := cpuMax(milliCores); found != expected {
			t.Errorf("%d: found %q, expected %q", milliCores, found, expected)
		}
	}
}
