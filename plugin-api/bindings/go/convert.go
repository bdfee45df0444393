// SPDX-License-Identifier: Apache-2.0

package koordetector

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"errors"
	"sort"
	"unsafe"
)

// Labels of a series, a pod or a node, and inputs of an intent or eviction. The host gets them ordered by key.
type Labels map[string]string

// Copies a text that the host lends.
func text(lent C.koord_str) string {
	if lent.p == nil {
		return ""
	}
	return string(unsafe.Slice((*byte)(unsafe.Pointer(lent.p)), int(lent.n)))
}

// Copies an array of the ABI record by record, stepped by its stride.
func records[Raw, Record any](first *Raw, n, stride C.uint32_t, copied func(*Raw) Record) []Record {
	if first == nil || n == 0 {
		return nil
	}
	all := make([]Record, n)
	for i := range all {
		all[i] = copied((*Raw)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*uintptr(stride))))
	}
	return all
}

func labels(first *C.koord_label, n, stride C.uint32_t) Labels {
	all := make(Labels, n)
	records(first, n, stride, func(raw *C.koord_label) struct{} {
		all[text(raw.key)] = text(raw.value)
		return struct{}{}
	})
	return all
}

// C memory for the duration of a call. cgo forbids passing a Go record that points to other Go records.
type loan struct{ pieces []unsafe.Pointer }

func lend[Raw any](l *loan, n int) []Raw {
	if n == 0 {
		return nil
	}
	var one Raw
	piece := C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(one)))
	l.pieces = append(l.pieces, piece)
	return unsafe.Slice((*Raw)(piece), n)
}

func (l *loan) text(text string) C.koord_str {
	piece := lend[byte](l, len(text))
	copy(piece, text)
	return C.koord_str{(*C.char)(unsafe.Pointer(first(piece))), C.uint64_t(len(text))}
}

// Sorts by key, because the host compares repeated plans, and the order of a map is random.
func (l *loan) labels(labels Labels) []C.koord_label {
	keys := make([]string, 0, len(labels))
	for key := range labels {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	raw := lend[C.koord_label](l, len(labels))
	for i, key := range keys {
		raw[i] = C.koord_label{l.text(key), l.text(labels[key])}
	}
	return raw
}

func (l *loan) end() {
	for _, piece := range l.pieces {
		C.free(piece)
	}
}

func first[Record any](all []Record) *Record {
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// Calls `ask` until the buffer has room for all records. `ask` fills the buffer and returns the number of records.
func filled[Record any](buffer []Record, ask func([]Record) C.koord_go_answer) ([]Record, error) {
	var one Record
	if least := 1024 / int(unsafe.Sizeof(one)); cap(buffer) < least {
		buffer = make([]Record, least)
	}
	for {
		buffer = buffer[:cap(buffer)]
		answer := ask(buffer)
		err := check(answer.status)
		switch {
		case err == nil:
			return buffer[:answer.value], nil
		case !errors.Is(err, ErrTooSmall):
			return nil, err
		}
		need := int(answer.value)
		if need <= len(buffer) {
			need = 2 * len(buffer)
		}
		buffer = make([]Record, need)
	}
}
