// @NAME@: limits the threads that best-effort containers start by default, whatever CPUs the node has. Handle
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
	"description=few threads for best-effort pods\n");
*/
import "C"

import (
	"strconv"
	"sync/atomic"

	"koordinator.sh/koordetector"
)

const settings = `{
	"type": "object",
	"properties": {"threads": {"type": "integer", "minimum": 1, "maximum": 1024,
	                           "description": "how many a best-effort container is to start"}},
	"additionalProperties": false
}`

func init() {
	class := koordetector.Class{Name: "threads", ConfigSchema: settings}
	koordetector.AddRuntimeHook(class, koordetector.PreCreateContainer, newThreads)
}

func main() {} // of a shared library; never called

// Returns how many threads a container of a pod of this class should start; false: no limit.
func threadsOf(class koordetector.KubeQoS, configured int64) (int64, bool) {
	return configured, class == koordetector.KubeQoSBestEffort
}

type threads struct {
	config     koordetector.Config
	configured atomic.Int64 // Handle may run several times at once, and beside OnEvent
}

func newThreads(host koordetector.Host) (*threads, error) {
	config, err := host.Config()
	if err != nil {
		return nil, err
	}
	t := &threads{config: config}
	return t, t.OnEvent(koordetector.OnConfig, 0)
}

// OnEvent: at the start, and when an operator has changed the settings.
func (t *threads) OnEvent(what koordetector.Parts, _ uint64) error {
	if what != koordetector.OnConfig {
		return nil
	}
	configured, err := t.config.Int64("/threads", 2)
	if err == nil {
		t.configured.Store(configured)
	}
	return err
}

// Handle is called for each new container: values set here go into the runtime's request.
func (t *threads) Handle(request koordetector.HookRequest, response koordetector.HookResponse) error {
	n, told := threadsOf(request.Pod.KubeQoS, t.configured.Load())
	if !told {
		return nil
	}
	return response.Set("env:OMP_NUM_THREADS", strconv.FormatInt(n, 10))
}
