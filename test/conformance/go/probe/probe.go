// SPDX-License-Identifier: Apache-2.0

// A plugin of all four kinds for binding_test.cpp. The advisor asks every service and appends the results as
// test_fact{fact="…"}; each function panics when the configuration's "panic" names it.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=binding-probe\n"
	"version=1.0.0\n"
	"kinds=koord.advisor/1,koord.external-advisor/1,koord.qos-strategy/1,koord.runtime-hook/1\n"
	"gate=BindingProbe\n"
	"requires=koord.metrics/1,koord.config/1\n");
*/
import "C"

import (
	"context"
	"errors"
	"math"
	"time"

	k "koordinator.sh/koordetector"
)

func init() {
	k.AddAdvisor(k.Class{Name: "probe", Period: 100 * time.Millisecond, ConfigSchema: `{"type": "object"}`}, newProbe)
	k.AddExternalAdvisor(k.Class{Name: "source"}, newSource)
	k.AddQosStrategy(k.Class{Name: "strategy", Period: time.Second}, newStrategy)
	k.AddRuntimeHook(k.Class{Name: "hook", Serial: true}, k.PreRunPodSandbox|k.PreCreateContainer,
		func(host k.Host) (*hook, error) {
			fuse, err := fuseOf(host)
			return &hook{fuse}, err
		})
}

func main() {}

type fuse string

func fuseOf(host k.Host) (fuse, error) {
	config, err := host.Config()
	if err != nil {
		return "", err
	}
	call, err := config.String("/panic", "")
	return fuse(call), err
}

func (f fuse) burn(call string) {
	if string(f) == call {
		panic("thrown in " + call)
	}
}

type probe struct {
	host  k.Host
	fuse  fuse
	fact  k.Metric
	ticks int
}

func newProbe(host k.Host) (*probe, error) {
	fuse, err := fuseOf(host)
	if err != nil {
		return nil, err
	}
	fuse.burn("init")
	metrics, err := host.Metrics()
	if err != nil {
		return nil, err
	}
	fact, err := metrics.Gauge("test_fact", "", "Result of a service.")
	return &probe{host: host, fuse: fuse, fact: fact}, err
}

func (p *probe) OnEvent(k.Parts, uint64) error {
	p.fuse.burn("on_event")
	return nil
}

func (p *probe) Stop() error {
	p.fuse.burn("stop")
	return nil
}

func (p *probe) Close() error {
	p.fuse.burn("destroy")
	return nil
}

func (p *probe) Collect(now, _ k.Time) error {
	p.ticks++
	if p.ticks%2 == 1 {
		p.fuse.burn("collect")
	}
	facts := map[string]float64{}
	if p.fuse == "" {
		if err := p.ask(facts, now); err != nil {
			return err
		}
	}
	facts["ticks"] = float64(p.ticks)
	batch := must(p.host.Metrics()).Batch()
	for fact, value := range facts {
		batch.Add(must(p.fact.Series(k.NoSubject, k.Labels{"fact": fact})), value)
	}
	if err := batch.Send(now); err != nil {
		return err
	}
	return p.history(now)
}

// A missing service is a bug of the test.
func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (p *probe) ask(facts map[string]float64, now k.Time) error {
	snapshot, err := must(p.host.State()).Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	pods := snapshot.Pods()
	if len(pods) == 0 || len(pods[0].Containers) == 0 {
		return k.Errorf(k.ErrAgain, "no container yet")
	}
	pod := pods[0]
	facts["pods"] = float64(len(pods))
	facts["pod is u1"] = truth(pod.UID == "u1")
	facts["pod has no start time"] = truth(pod.StartTime.IsZero())
	facts["containers"] = float64(len(pod.Containers))
	facts["label"] = truth(pod.Labels["app"] == "web")
	processes, err := must(p.host.State()).Processes(pod.Containers[len(pod.Containers)-1].Handle)
	if err != nil {
		return err
	}
	for _, process := range processes {
		facts["processes"] += float64(process)
	}
	if err := p.askVerdicts(facts, pod.Containers[len(pod.Containers)-1].Handle, now); err != nil {
		return err
	}
	facts["no node"] = truth(snapshot.Node() == nil)
	facts["read now"] = truth(must(p.host.Clock()).Now() == now)
	p.askKV(facts)
	p.askConfig(facts)
	if err := p.askCgroup(facts, pod.Containers[len(pod.Containers)-1].CgroupDir, now); err != nil {
		return err
	}
	content, err := must(p.host.FS()).Read(k.ProcRoot, "long")
	facts["long file"] = float64(len(content))
	capabilities := must(p.host.Capabilities())
	if reported := capabilities.Report("probe", k.CapabilityBroken, "on purpose"); reported != nil {
		return reported
	}
	facts["broken"] = float64(must(capabilities.Get("probe")))
	return err
}

// Posts a verdict, reads it back and ends it.
func (p *probe) askVerdicts(facts map[string]float64, victim k.Subject, now k.Time) error {
	verdicts, unknown := must(p.host.Verdicts()), math.NaN()
	if err := verdicts.Subscribe(true); err != nil {
		return err
	}
	posted := k.Verdict{Kind: k.Interfered, Resource: k.CPUResource, Method: k.Suspected, Victim: victim, From: 1, To: now,
		Statistic: "probed", StatisticUnit: "1", Value: 4, Baseline: unknown, Others: k.Labels{"memory": "idle"},
		Suspects: []k.Suspect{{Kind: k.SuspectKernel, Value: unknown, Share: 0.5}}}
	if err := verdicts.Post(posted); err != nil {
		return err
	}
	list, generation, err := verdicts.List()
	if err != nil || len(list) != 1 {
		return k.Errorf(k.ErrNotFound, "%d verdicts stand: %v", len(list), err)
	}
	one := list[0]
	facts["verdict"] = one.Value
	facts["verdict is whole"] = truth(one.Plugin == "test" && one.VictimName == "c1" && one.Origin == k.OwnOrigin &&
		math.IsNaN(one.Baseline) && one.TTL == time.Minute && len(one.Suspects) == 1 && one.Suspects[0].Share == 0.5 &&
		one.Others["memory"] == "idle" && generation > 1)
	if err := verdicts.End(victim, one.Resource, one.Kind, "it was a probe"); err != nil {
		return err
	}
	list, _, err = verdicts.List()
	facts["verdicts after the end"] = float64(len(list))
	return err
}

func (p *probe) askKV(facts map[string]float64) {
	kv := must(p.host.KV())
	if err := kv.Set("key", []byte{1, 2, 3}, 0); err != nil {
		return
	}
	for _, each := range must(kv.Get("key")) {
		facts["kv"] += float64(each)
	}
	_, err := kv.Get("none")
	facts["kv misses"] = truth(errors.Is(err, k.ErrNotFound))
}

func (p *probe) askConfig(facts map[string]float64) {
	config := must(p.host.Config())
	facts["config i64"] = float64(must(config.Int64("/limits/cpu", 0)))
	facts["config misses"] = truth(must(config.Float64("/none", 7)) == 7 && must(config.Bool("/none", true)))
	if _, err := config.Int64("/panic", 0); err != nil {
		facts["config of another type"] = float64(err.(*k.Error).Status)
	} else {
		facts["config of another type"] = 0
	}
}

func (p *probe) askCgroup(facts map[string]float64, dir string, now k.Time) error {
	stat, err := must(p.host.Cgroup()).Open(dir, "cpu.stat", "nr_periods", "nr_throttled")
	if err != nil {
		return err
	}
	defer stat.Close()
	var values [2]int64
	at, err := stat.Read(values[:])
	facts["nr_periods"] = float64(values[0])
	facts["nr_throttled is absent"] = truth(values[1] == k.Absent)
	facts["read now"] *= truth(at == now)
	return err
}

// Reports how much of test_fact is in the cache, as the counts of two histograms, which are not stored in the cache.
func (p *probe) history(now k.Time) error {
	metrics := must(p.host.Metrics())
	query := k.Query{Metric: "test_fact", Aggregation: k.Last, From: 1}
	rows, samples := must(metrics.Aggregate(query)), must(metrics.Samples(query))
	history := must(metrics.Histogram("test_history", "", "Rows and samples in the cache.", 1))
	batch := metrics.Batch()
	of := func(what string) k.Series { return must(history.Series(k.NoSubject, k.Labels{"of": what})) }
	batch.AddHistogram(of("rows"), []uint64{0, uint64(len(rows))}, 1.5)
	batch.AddHistogram(of("samples"), []uint64{1, uint64(len(samples))}, 2.5)
	return batch.Send(now)
}

type source struct {
	host k.Host
	fuse fuse
	fact k.Metric
}

func newSource(host k.Host) (*source, error) {
	fuse, err := fuseOf(host)
	if err != nil {
		return nil, err
	}
	metrics, err := host.Metrics()
	if err != nil {
		return nil, err
	}
	fact, err := metrics.Gauge("test_fact", "", "Result of a service.")
	return &source{host: host, fuse: fuse, fact: fact}, err
}

func (s *source) URL() (string, error) {
	s.fuse.burn("url")
	return "http://127.0.0.1:9100/metrics", nil
}

func (s *source) MapMetric(name string) (string, bool) { return "probe_" + name, name == "kept" }

func (s *source) MapSample(name string, labels k.Labels, value float64) (float64, bool) {
	s.fuse.burn("map_sample")
	return value * 10, name == "kept" && labels["a"] == "b"
}

func (s *source) Run(ctx context.Context) error {
	s.fuse.burn("run")
	for rounds := 1; ; rounds++ {
		batch := must(s.host.Metrics()).Batch()
		batch.Add(must(s.fact.Series(k.NoSubject, k.Labels{"fact": "rounds"})), float64(rounds))
		if err := batch.Send(0); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

type strategy struct {
	fuse  fuse
	knobs k.Knobs
}

func newStrategy(host k.Host) (*strategy, error) {
	fuse, err := fuseOf(host)
	if err != nil {
		return nil, err
	}
	knobs, err := host.Knobs()
	return &strategy{fuse, knobs}, err
}

func (s *strategy) Evaluate(_, _ k.Time) error {
	s.fuse.burn("evaluate")
	if s.fuse != "" {
		return nil
	}
	current, err := s.knobs.Current("cpu.max", "be.slice")
	if err != nil {
		return err
	}
	first := k.Intent{Level: k.PodLevel, Knob: "cpu.max", CgroupDir: "be.slice", Value: current, Reason: "the node is busy",
		Inputs: k.Labels{"node_cpu_usage": "7.3"}, Priority: 10, TTL: time.Minute}
	base, err := s.knobs.Base("cpuset.cpus", "be.slice")
	if err != nil {
		return err
	}
	second := first
	second.Knob, second.Value, second.Inputs, second.Role = "cpuset.cpus", base, nil, k.CapRole
	return s.knobs.Propose(first, second)
}

func (s *strategy) OnApplied(results []k.IntentResult) error {
	s.fuse.burn("on_applied")
	for _, result := range results {
		if result.Status != 0 {
			return k.Errorf(result.Status, "%s", result.Winner)
		}
	}
	return nil
}

type hook struct{ fuse fuse }

func (h *hook) Handle(request k.HookRequest, response k.HookResponse) error {
	h.fuse.burn("handle")
	if request.Container != nil {
		return response.Reject("this hook is for pods")
	}
	return response.Set("env:POD", request.Pod.UID)
}
