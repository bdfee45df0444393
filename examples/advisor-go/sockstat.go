// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
)

// name of a number in /proc/net/sockstat; a row there begins with a protocol, and keys with their values follow.
type name struct{ protocol, key string }

type entry struct {
	name
	value uint64
}

// parseSockstat leaves out unknown lines and fields.
func parseSockstat(content string) []entry {
	var entries []entry
	for _, row := range strings.Split(content, "\n") {
		// "TCP: inuse 27 orphan 0 tw 203 alloc 31 mem 4"
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

// memory is how many bytes an entry stands for; false: it counts sockets.
func (e entry) memory(pageBytes uint64) (uint64, bool) {
	switch e.key {
	case "mem":
		return e.value * pageBytes, true
	case "memory":
		return e.value, true
	}
	return 0, false
}
