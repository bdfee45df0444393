// SPDX-License-Identifier: Apache-2.0

package koordetector

import (
	"fmt"
	"io"
	"reflect"
)

// quietCloser is a plugin with a Close that cannot fail.
type quietCloser interface{ Close() }

func typeOf[Interface any]() reflect.Type { return reflect.TypeOf((*Interface)(nil)).Elem() }

// The optional methods of a plugin by name, with the signatures that each may have.
var optionalMethods = map[string][]reflect.Type{
	"Close":     {typeOf[io.Closer](), typeOf[quietCloser]()},
	"MapMetric": {typeOf[MetricMapper]()},
	"MapSample": {typeOf[SampleMapper]()},
	"OnApplied": {typeOf[AppliedHandler]()},
	"OnEvent":   {typeOf[EventHandler]()},
	"Run":       {typeOf[Runner]()},
	"Stop":      {typeOf[Stopper]()},
}

// misshapen returns an error if a method has the name of an optional method but different arguments or results, because
// the method would silently never be called.
func misshapen(plugin reflect.Type) error {
	for name, shapes := range optionalMethods {
		method, has := plugin.MethodByName(name)
		for _, shape := range shapes {
			has = has && !plugin.Implements(shape)
		}
		if has {
			return fmt.Errorf("%s has the method %s as %s, expected %s", plugin, name, method.Type, shapes[0].Method(0).Type)
		}
	}
	return nil
}

// closed calls Close if the plugin has it, with either signature.
func closed(plugin any) error {
	switch plugin := plugin.(type) {
	case io.Closer:
		return plugin.Close()
	case quietCloser:
		plugin.Close()
	}
	return nil
}
