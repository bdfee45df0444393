// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
)

// name identifies a number in /proc/net/sockstat. A row there has a protocol, followed by keys with their values.
type name struct{ protocol, key string }

type entry struct {
	name
	value uint64
}

// parseSockstat parses the entries; unknown lines and fields are left out.
func parseSockstat(content string) []entry {
	var entries []entry
	for _, row := range strings.Split(content, "\n") {
		// Example: "TCP: inuse 27 orphan 0 tw 203 alloc 31 mem 4".
		if protocol, values, found := strings.Cut(row, ":"); found {
			entries = append(entries, entriesOf(protocol, strings.Fields(values))...)
		}
	}
	return entries
}

func entriesOf(protocol string, words []string) []entry {
	var entries []entry
	for ; len(words) >= 2; words = words[2:] {
		if value, err := strconv.ParseUint(words[1], 10, 64); err == nil {
			entries = append(entries, entry{name{protocol, words[0]}, value})
		}
	}
	return entries
}

// memory returns the number of bytes of an entry; false: the entry counts sockets.
func (e entry) memory(pageBytes uint64) (uint64, bool) {
	switch e.key {
	case "mem":
		return e.value * pageBytes, true
	case "memory":
		return e.value, true
	}
	return 0, false
}
