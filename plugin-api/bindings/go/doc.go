// SPDX-License-Identifier: Apache-2.0

// Package koordetector is the Go binding of the plugin ABI: cgo over plugin.h itself and the standard library, Go 1.19
// or newer.
//
// A plugin is a main package that is built with -buildmode=c-shared. The comment above import "C" holds its
// manifest, and an init function registers its classes:
//
//	/*
//	#include <koordetector/go.h>
//	KOORD_GO_MANIFEST(
//		"id=org.example.hello\n"
//		"version=1.0.0\n"
//		"kinds=koord.advisor/1\n"
//		"gate=Hello\n"
//		"requires=koord.metrics/1\n");
//	*/
//	import "C"
//
//	func init() {
//		koordetector.AddAdvisor(koordetector.Class{Name: "hello", Period: time.Second}, newHello)
//	}
//
//	func main() {} // is never called
//
// The contract (threads, lifetimes, units) is in plugin.h and is not repeated here. Strings and records that the
// host lends are copied, so they may be kept. Services may be used on any goroutine until Close returns.
//
// Every call from the host goes through a guard that turns a panic into ErrPanic with its text and place. The next call
// continues with the object as the panic left it. Go cannot guard goroutines that the plugin starts itself, nor errors
// that its runtime calls fatal (a concurrent map write, a deadlock). These end the child process, and the host starts
// it again. Each class of a plugin in Go has its own process.
//
// For the rest of a plugin's Makefile see examples/advisor-go.
package koordetector
