// @NAME@: adds the metrics of an exporter on this node to the agent's metrics.
// The agent scrapes the endpoint that URL returns; the contract is sdk/koordetector/plugin.h.
package main

/*
#include <koordetector/go.h>

KOORD_GO_MANIFEST(
	"id=@ID@\n"
	"version=0.1.0\n"
	"kinds=koord.external-advisor/1\n"
	"gate=@GATE@\n"
	"requires=koord.config/1\n"
	"description=the metrics of an exporter on this node\n");
*/
import "C"

import (
	"fmt"
	"time"

	"koordinator.sh/koordetector"
)

const settings = `{
	"type": "object",
	"properties": {"port": {"type": "integer", "minimum": 1, "maximum": 65535,
	                        "description": "where on 127.0.0.1 the exporter listens"}},
	"additionalProperties": false
}`

func init() {
	class := koordetector.Class{Name: "exporter", Period: 15 * time.Second, ConfigSchema: settings}
	koordetector.AddExternalAdvisor(class, newExporter)
}

func main() {} // a shared library never calls it

func urlOf(port int64) string { return fmt.Sprintf("http://127.0.0.1:%d/metrics", port) }

type exporter struct{ config koordetector.Config }

func newExporter(host koordetector.Host) (*exporter, error) {
	config, err := host.Config()
	if err != nil {
		return nil, err
	}
	e := &exporter{config}
	_, err = e.URL() // reports invalid settings at start
	return e, err
}

// URL is called at start, and again when an operator has changed the settings.
func (e *exporter) URL() (string, error) {
	port, err := e.config.Int64("/port", 9100)
	return urlOf(port), err
}
