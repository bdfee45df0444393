package main

import "testing"

func TestTheExporterIsOnThisNode(t *testing.T) {
	if found, expected := urlOf(9400), "http://127.0.0.1:9400/metrics"; found != expected {
		t.Errorf("found %q, expected %q", found, expected)
	}
}
