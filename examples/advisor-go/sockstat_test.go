// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"testing"
)

func expectEntries(t *testing.T, content string, expected ...entry) {
	t.Helper()
	if found := parseSockstat(content); !reflect.DeepEqual(found, expected) {
		t.Errorf("%q: found %v, expected %v", content, found, expected)
	}
}

func TestARowHasAProtocolAndItsKeys(t *testing.T) {
	expectEntries(t, "sockets: used 11\nTCP: inuse 1 tw 203 mem 4\n",
		entry{name{"sockets", "used"}, 11}, entry{name{"TCP", "inuse"}, 1}, entry{name{"TCP", "tw"}, 203}, entry{name{"TCP", "mem"}, 4})
}

func TestAnEmptyFileHasNoEntries(t *testing.T) {
	expectEntries(t, "")
}

func TestWhatIsNotUnderstoodIsLeftOut(t *testing.T) {
	expectEntries(t, "TCP inuse 1\nUDP: inuse many mem\nRAW:\nFRAG: inuse -1 memory 7\n", entry{name{"FRAG", "memory"}, 7})
}

func TestMemoryIsInPagesOrInBytes(t *testing.T) {
	for _, one := range []struct {
		entry entry
		bytes uint64
		is    bool
	}{
		{entry{name{"TCP", "mem"}, 3}, 12288, true},
		{entry{name{"FRAG", "memory"}, 7}, 7, true},
		{entry{name{"TCP", "inuse"}, 5}, 0, false},
	} {
		if bytes, is := one.entry.memory(4096); bytes != one.bytes || is != one.is {
			t.Errorf("%v: found %d, %v", one.entry, bytes, is)
		}
	}
}
