// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"strings"
	"testing"
)

func TestLabelsAreLentInTheOrderOfTheirKeysEachTime(t *testing.T) {
	for i := 0; i < 50; i++ {
		var l loan
		var keys []string
		for _, label := range l.labels(Labels{"c": "3", "a": "1", "d": "4", "b": "2"}) {
			keys = append(keys, text(label.key)+text(label.value))
		}
		l.end()
		if found := strings.Join(keys, " "); found != "a1 b2 c3 d4" {
			t.Fatalf("found %s", found)
		}
	}
}
