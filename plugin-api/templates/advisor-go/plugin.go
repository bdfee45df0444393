// @NAME@: counts the tasks of the node that run or wait for a CPU.
// Replace the metrics that newLoad defines and the files that Collect reads; the contract is sdk/koordetector/plugin.h.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=@ID@\n"
	"version=0.1.0\n"
	"kinds=koord.advisor/1\n"
	"gate=@GATE@\n"
	"requires=koord.metrics/1,koord.fs/1,koord.config/1\n"
	"description=the load of the node\n");
*/
import "C"

import (
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koordetector"
)

const settings = `{
	"type": "object",
	"properties": {"minutes": {"enum": [1, 5, 15], "description": "over which the load is averaged"}},
	"additionalProperties": false
}`

func init() {
	koordetector.AddAdvisor(koordetector.Class{Name: "load", Period: time.Second, ConfigSchema: settings}, newLoad)
}

func main() {} // a shared library never calls it

// In "0.52 0.48 0.40 2/310 4711", the first three numbers are averages over one, five and fifteen minutes.
func loadOf(loadavg string, minutes int64) (float64, error) {
	words := strings.Fields(loadavg)
	if len(words) < 3 {
		return 0, koordetector.Errorf(koordetector.ErrIO, "/proc/loadavg: expected three numbers, found %q", loadavg)
	}
	column := map[int64]int{1: 0, 5: 1, 15: 2}[minutes]
	return strconv.ParseFloat(words[column], 64)
}

type load struct {
	config  koordetector.Config
	fs      koordetector.FS
	metrics koordetector.Metrics
	series  koordetector.Series
	minutes int64
}

// Called once: gets the services and defines the metrics.
func newLoad(host koordetector.Host) (*load, error) {
	l := &load{}
	var err error
	if l.config, err = host.Config(); err != nil {
		return nil, err
	}
	if l.fs, err = host.FS(); err != nil {
		return nil, err
	}
	if l.metrics, err = host.Metrics(); err != nil {
		return nil, err
	}
	metric, err := l.metrics.Define(koordetector.MetricSpec{Type: koordetector.Gauge, Name: "@METRIC@_load", Unit: "tasks",
		Help: "Tasks that run or wait for a CPU, on average.", Resolution: 0.01})
	if err != nil {
		return nil, err
	}
	if l.series, err = metric.Series(koordetector.NoSubject, nil); err != nil {
		return nil, err
	}
	return l, l.OnEvent(koordetector.OnConfig, 0)
}

// OnEvent is called at start, and when an operator has changed the settings.
func (l *load) OnEvent(what koordetector.Parts, _ uint64) (err error) {
	if what == koordetector.OnConfig {
		l.minutes, err = l.config.Int64("/minutes", 1)
	}
	return err
}

// Collect is called every period. It reads the file and adds a value. After an error only this tick fails; the next one
// tries again.
func (l *load) Collect(now, _ koordetector.Time) error {
	text, err := l.fs.Read(koordetector.ProcRoot, "loadavg")
	if err != nil {
		return err
	}
	value, err := loadOf(string(text), l.minutes)
	if err != nil {
		return err
	}
	batch := l.metrics.Batch()
	batch.Add(l.series, value)
	return batch.Send(now)
}
