// @NAME@: limits the CPU time of every best-effort pod.
// Evaluate only proposes; the agent decides, writes and reverts. The contract is sdk/koordetector/plugin.h.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=@ID@\n"
	"version=0.1.0\n"
	"kinds=koord.qos-strategy/1\n"
	"gate=@GATE@\n"
	"requires=koord.state/1,koord.knobs/1,koord.config/1\n"
	"description=a ceiling of CPU time for best-effort pods\n");
*/
import "C"

import (
	"fmt"
	"time"

	"koordinator.sh/koordetector"
)

const settings = `{
	"type": "object",
	"properties": {"milliCores": {"type": "integer", "minimum": 10, "maximum": 1000000,
	                              "description": "what a best-effort pod may use at most"}},
	"additionalProperties": false
}`

func init() {
	class := koordetector.Class{Name: "ceiling", Period: 10 * time.Second, ConfigSchema: settings}
	koordetector.AddQosStrategy(class, newCeiling)
}

func main() {} // a shared library never calls it

// Returns "quota period" for cpu.max, in microseconds.
func cpuMax(milliCores int64) string { return fmt.Sprintf("%d 100000", milliCores*100) }

type ceiling struct {
	config koordetector.Config
	state  koordetector.State
	knobs  koordetector.Knobs
	value  string
}

func newCeiling(host koordetector.Host) (*ceiling, error) {
	c := &ceiling{}
	var err error
	if c.config, err = host.Config(); err != nil {
		return nil, err
	}
	if c.state, err = host.State(); err != nil {
		return nil, err
	}
	if c.knobs, err = host.Knobs(); err != nil {
		return nil, err
	}
	return c, c.OnEvent(koordetector.OnConfig, 0)
}

// OnEvent is called at start, and when an operator has changed the settings.
func (c *ceiling) OnEvent(what koordetector.Parts, _ uint64) error {
	if what != koordetector.OnConfig {
		return nil
	}
	milliCores, err := c.config.Int64("/milliCores", 500)
	c.value = cpuMax(milliCores)
	return err
}

// Evaluate is called every period. All intents of one call are one plan, which replaces the previous plan.
func (c *ceiling) Evaluate(_, _ koordetector.Time) error {
	snapshot, err := c.state.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	var plan []koordetector.Intent
	for _, pod := range snapshot.Pods() {
		if pod.KubeQoS == koordetector.KubeQoSBestEffort && pod.CgroupDir != "" {
			plan = append(plan, koordetector.Intent{Level: koordetector.PodLevel, Knob: "cpu.max", CgroupDir: pod.CgroupDir,
				Value: c.value, Reason: "best-effort pods have a ceiling", TTL: time.Minute})
		}
	}
	return c.knobs.Propose(plan...)
}
