// SPDX-License-Identifier: Apache-2.0

// A complete third-party plugin in Go: an advisor that reports the number of sockets of the node and their memory, from
// /proc/net/sockstat through the host's koord.fs/1, and the TCP sockets of each pod, through the pod's processes. Above
// tcp_mem the kernel drops packets of all pods, whichever pod has the sockets. Copy it, and change `id`, `gate` and the
// files that Collect reads.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=com.example.sockets\n"
	"version=1.0.0\n"
	"kinds=koord.advisor/1\n"
	"gate=SocketsExample\n"
	"requires=koord.fs/1,koord.metrics/1,koord.state/1\n"
	"license=Apache-2.0\n"
	"description=counts the sockets of the node and its pods, and their memory\n");
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"time"

	"koordinator.sh/koordetector"
)

// Process 1 is in the node's network namespace, whichever namespace this process is in.
const sockstat = "1/net/sockstat"

type sockets struct {
	fs            koordetector.FS
	state         koordetector.State
	metrics       koordetector.Metrics
	count, memory koordetector.Metric
	ofPod         koordetector.Metric
	series        map[name]koordetector.Series
	content       []byte
}

func init() {
	koordetector.AddAdvisor(koordetector.Class{Name: "sockets", Period: 5 * time.Second}, newSockets)
}

func main() {} // a shared library never calls it

// Called once: gets the services and defines the metrics.
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
	if s.memory, err = s.metrics.Gauge("example_socket_memory_bytes", "bytes", "Memory that sockets hold, by protocol."); err != nil {
		return nil, err
	}
	if s.state, err = host.State(); err != nil {
		return nil, err
	}
	s.ofPod, err = s.metrics.Gauge("example_pod_tcp_sockets", "sockets", "TCP sockets in the network namespace of the pod.")
	return s, err
}

// Collect is called every period and sends one batch with a point for each entry.
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
	if err := s.addPods(batch); err != nil {
		return err
	}
	return batch.Send(now)
}

// Adds each pod, through the network namespace of its first process. A pod that has ended or has no process yet has no
// value.
func (s *sockets) addPods(batch *koordetector.Batch) error {
	snapshot, err := s.state.Snapshot()
	if errors.Is(err, koordetector.ErrAgain) {
		return nil // no pods are known yet
	} else if err != nil {
		return err
	}
	defer snapshot.Close()
	for _, pod := range snapshot.Pods() {
		sockets, err := s.tcpSocketsOf(pod.Handle)
		if err != nil || sockets == nil {
			continue // it has ended or not started yet
		}
		series, err := s.ofPod.Series(pod.Handle, nil) // the host adds the labels of the pod
		if errors.Is(err, koordetector.ErrGone) {
			continue
		} else if err != nil {
			return err
		}
		batch.Add(series, float64(*sockets))
	}
	return nil
}

// Returns nil if no process exists or its file lacks the row.
func (s *sockets) tcpSocketsOf(pod koordetector.Subject) (*uint64, error) {
	processes, err := s.state.Processes(pod)
	if err != nil || len(processes) == 0 {
		return nil, err
	}
	content, err := s.fs.Read(koordetector.ProcRoot, fmt.Sprintf("%d/net/sockstat", processes[0]))
	if err != nil {
		return nil, err
	}
	for _, one := range parseSockstat(string(content)) {
		if one.name == (name{"TCP", "inuse"}) {
			value := one.value
			return &value, nil
		}
	}
	return nil, nil
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
