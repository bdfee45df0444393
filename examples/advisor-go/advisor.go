// SPDX-License-Identifier: Apache-2.0

// A complete third-party plugin in Go: an advisor that tells how many sockets the node has and how much memory they hold,
// from /proc/net/sockstat through the host's koord.fs/1. Above tcp_mem the kernel drops packets of every pod, whoever's
// sockets they are in. Copy it, change `id`, `gate` and what Collect reads.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=com.example.sockets\n"
	"version=1.0.0\n"
	"kinds=koord.advisor/1\n"
	"gate=SocketsExample\n"
	"requires=koord.metrics/1,koord.fs/1\n"
	"license=Apache-2.0\n"
	"description=counts the sockets of the node and their memory\n");
*/
import "C"

import (
	"os"
	"time"

	"koordinator.sh/koordetector"
)

// The node's network namespace is that of process 1, in whichever this process is.
const sockstat = "1/net/sockstat"

type sockets struct {
	fs            koordetector.FS
	metrics       koordetector.Metrics
	count, memory koordetector.Metric
	series        map[name]koordetector.Series
	content       []byte
}

func init() {
	koordetector.AddAdvisor(koordetector.Class{Name: "sockets", Period: 5 * time.Second}, newSockets)
}

func main() {} // of a shared library; never called

// Once: get the services, say what will be measured.
func newSockets(host koordetector.Host) (*sockets, error) {
	s := &sockets{series: map[name]koordetector.Series{}}
	var err error
	if s.fs, err = host.FS(); err != nil {
		return nil, err
	}
	if s.metrics, err = host.Metrics(); err != nil {
		return nil, err
	}
	if s.count, err = s.metrics.Gauge("example_sockets", "sockets", "Sockets of the node, by protocol and state."); err != nil {
		return nil, err
	}
	s.memory, err = s.metrics.Gauge("example_socket_memory_bytes", "bytes", "Memory that sockets hold, by protocol.")
	return s, err
}

// Collect is called every period: one batch with a point an entry.
func (s *sockets) Collect(now, _ koordetector.Time) error {
	content, err := s.fs.ReadInto(s.content, koordetector.ProcRoot, sockstat)
	if err != nil {
		return err
	}
	s.content = content
	entries := parseSockstat(string(content))
	if len(entries) == 0 {
		return koordetector.Errorf(koordetector.ErrIO, "%s has no row of a protocol, keys and values", sockstat)
	}
	batch := s.metrics.Batch()
	for _, one := range entries {
		if err := s.add(batch, one); err != nil {
			return err
		}
	}
	return batch.Send(now)
}

func (s *sockets) add(batch *koordetector.Batch, one entry) error {
	metric, value := s.count, one.value
	labels := koordetector.Labels{"protocol": one.protocol, "state": one.key}
	if bytes, is := one.memory(uint64(os.Getpagesize())); is {
		metric, value = s.memory, bytes
		delete(labels, "state")
	}
	series, known := s.series[one.name]
	if !known {
		var err error
		if series, err = metric.Series(koordetector.NoSubject, labels); err != nil {
			return err
		}
		s.series[one.name] = series
	}
	batch.Add(series, float64(value))
	return nil
}
