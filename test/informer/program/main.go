// SPDX-License-Identifier: Apache-2.0

// An informer of client-go on NodeMetric objects. It prints a line for each event, and after each line on stdin all
// objects that it has, as "= NAME VERSION CPU", then "=". It ends with stdin.
//
// usage: informer URL [CA_FILE TOKEN_FILE]
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var output sync.Mutex

func say(format string, arguments ...any) {
	output.Lock()
	defer output.Unlock()
	fmt.Printf(format+"\n", arguments...)
}

func name(object any) string {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return gone.Key
	}
	return object.(*unstructured.Unstructured).GetName()
}

func cpu(object *unstructured.Unstructured) string {
	value, _, _ := unstructured.NestedString(object.Object, "status", "nodeMetric", "nodeUsage", "resources", "cpu")
	return value
}

func show(store cache.Store) {
	var lines []string
	for _, each := range store.List() {
		object := each.(*unstructured.Unstructured)
		lines = append(lines, fmt.Sprintf("= %s %s %s", object.GetName(), object.GetResourceVersion(), cpu(object)))
	}
	sort.Strings(lines)
	for _, line := range lines {
		say("%s", line)
	}
	say("=")
}

func main() {
	config := &rest.Config{Host: os.Args[1]}
	if len(os.Args) > 3 {
		config.TLSClientConfig.CAFile = os.Args[2]
		config.BearerTokenFile = os.Args[3]
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	resource := schema.GroupVersionResource{Group: "metrics.koordetector.sh", Version: "v1alpha1", Resource: "nodemetrics"}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { say("ADD %s", name(object)) },
		UpdateFunc: func(_, object any) { say("UPDATE %s", name(object)) },
		DeleteFunc: func(object any) { say("DELETE %s", name(object)) },
	})
	stop := make(chan struct{})
	go informer.Run(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	say("SYNCED")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		show(informer.GetStore())
	}
	close(stop)
}
