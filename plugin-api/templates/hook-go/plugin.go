// @NAME@: gives pods with the label example.com/tier: interactive more CPU time under contention. Handle
// is a pure function of the request; the contract is sdk/koordetector/plugin.h.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=@ID@\n"
	"version=0.1.0\n"
	"kinds=koord.runtime-hook/1\n"
	"gate=@GATE@\n"
	"requires=koord.config/1\n"
	"description=CPU shares of interactive pods\n");
*/
import "C"

import (
	"strconv"
	"sync/atomic"

	"koordinator.sh/koordetector"
)

const settings = `{
	"type": "object",
	"properties": {"shares": {"type": "integer", "minimum": 2, "maximum": 262144,
	                          "description": "CPU shares of a container of an interactive pod; usual are 1024 for a CPU"}},
	"additionalProperties": false
}`

func init() {
	class := koordetector.Class{Name: "tiers", ConfigSchema: settings}
	koordetector.AddRuntimeHook(class, koordetector.PreCreateContainer, newTiers)
}

func main() {} // a shared library never calls it

func isInteractive(labels koordetector.Labels) bool {
	return labels["example.com/tier"] == "interactive"
}

type tiers struct {
	config koordetector.Config
	shares atomic.Int64 // Handle may run in several threads, in parallel with OnEvent
}

func newTiers(host koordetector.Host) (*tiers, error) {
	config, err := host.Config()
	if err != nil {
		return nil, err
	}
	t := &tiers{config: config}
	return t, t.OnEvent(koordetector.OnConfig, 0)
}

// OnEvent is called at start, and when an operator has changed the settings.
func (t *tiers) OnEvent(what koordetector.Parts, _ uint64) error {
	if what != koordetector.OnConfig {
		return nil
	}
	shares, err := t.config.Int64("/shares", 2048)
	if err == nil {
		t.shares.Store(shares)
	}
	return err
}

// Handle is called for each container. The agent keeps cgroup fields at the returned values later, too. An environment
// is set only while a container is created.
func (t *tiers) Handle(request koordetector.HookRequest, response koordetector.HookResponse) error {
	if !isInteractive(request.Pod.Labels) {
		return nil
	}
	if err := response.Set("linux.cpu.shares", strconv.FormatInt(t.shares.Load(), 10)); err != nil {
		return err
	}
	return response.Set("env:POD_TIER", "interactive")
}
