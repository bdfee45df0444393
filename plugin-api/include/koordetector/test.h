/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host in memory, for the tests of a plugin. The services are the agent's own; the node is a folder of files that the
 * test writes; time stands still until the test moves it. A test links the plugin's source and koordetector-test
 * (pkg-config --cflags --libs koordetector-test), with any test framework or none:
 *
 *   koord_test *t = koord_test_open(koord_entry_v1);
 *   koord_test_file(t, "proc/loadavg", "0.50 0.40 0.30 1/100 1234\n");
 *   assert(koord_test_start(t, NULL, "{}") == KOORD_OK);
 *   assert(koord_test_tick(t) == KOORD_OK);
 *   assert(koord_test_value(t, "acme_load", NULL) == 0.5);
 *   koord_test_close(t);
 *
 * Text is NUL-terminated UTF-8, borrowed for the call; text that is returned belongs to the host and is valid until the
 * next call with it. Labels are written "key=value,key=value". A call that fails returns a status, and koord_test_why()
 * says why. One thread at a time.
 */
#ifndef KOORDETECTOR_TEST_H
#define KOORDETECTOR_TEST_H

#include "koordetector/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct koord_test koord_test;

/* Creates a node without files, at 1,700,000,000 s of host time. Returns NULL if a host would not load the module;
 * stderr has the reason. */
KOORD_EXPORT koord_test *koord_test_open(const koord_module *(*entry)(void));
/* Ends the plugin and deletes the node. */
KOORD_EXPORT void koord_test_close(koord_test *test);
/* Returns why the last call failed; "" if it succeeded. */
KOORD_EXPORT const char *koord_test_why(koord_test *test);

/* ---- the node ---- */

/* Writes a file of the node. Paths begin with proc, sys, cgroup, resctrl or run. A path that ends in '/' creates a
 * directory. Before koord_test_start(), the files must show the cgroup hierarchy. */
KOORD_EXPORT koord_status koord_test_file(koord_test *test, const char *path, const char *content);
KOORD_EXPORT koord_status koord_test_remove(koord_test *test, const char *path);
/* Sets a PodList or a NodeSLO, YAML or JSON. A plugin that subscribed to them gets an event. */
KOORD_EXPORT koord_status koord_test_pods(koord_test *test, const char *pod_list);
KOORD_EXPORT koord_status koord_test_node_slo(koord_test *test, const char *node_slo);
/* Adds a sample of a different plugin's metric, now. `pod_uid`: the pod of the sample, or NULL. */
KOORD_EXPORT koord_status koord_test_sample(koord_test *test, const char *metric, const char *pod_uid,
                                            const char *labels, double value);
KOORD_EXPORT void koord_test_advance(koord_test *test, uint64_t ns);
KOORD_EXPORT uint64_t koord_test_now_ns(koord_test *test);

/* ---- the plugin ---- */

/* Calls create(), init() and run() of a class. `class_name`: NULL means the first class. `config_json`: NULL means no
 * configuration. */
KOORD_EXPORT koord_status koord_test_start(koord_test *test, const char *class_name, const char *config_json);
/* Calls collect() or evaluate(), now. */
KOORD_EXPORT koord_status koord_test_tick(koord_test *test);
/* Sets a new configuration, which is checked with the schema and passed to on_event(). */
KOORD_EXPORT koord_status koord_test_configure(koord_test *test, const char *config_json);
/* Calls handle() of a runtime hook for a pod of koord_test_pods() and one of its containers, by name, or NULL. */
KOORD_EXPORT koord_status koord_test_handle(koord_test *test, uint32_t stage, const char *pod_uid,
                                            const char *container_name);
/* Call url(), map_metric() and map_sample() of an external advisor. NULL: it failed, or it left the metric out. */
KOORD_EXPORT const char *koord_test_url(koord_test *test);
KOORD_EXPORT const char *koord_test_map_metric(koord_test *test, const char *name);
KOORD_EXPORT koord_status koord_test_map_sample(koord_test *test, const char *name, const char *labels, double *value);
/* Calls on_applied() of a strategy with a result for each of its last proposals: this status, and the value in
 * effect. */
KOORD_EXPORT koord_status koord_test_applied(koord_test *test, koord_status status, const char *final_value,
                                             const char *winner);
/* Calls stop(), waits for the end of run(), calls destroy(). koord_test_start() may follow. */
KOORD_EXPORT koord_status koord_test_end(koord_test *test);

/* ---- results ---- */

/* Returns the last value of the only series that has all these labels, including the labels of its pod or container.
 * NULL: any labels. NaN if no series or more than one matches. */
KOORD_EXPORT double koord_test_value(koord_test *test, const char *metric, const char *labels);
/* Returns how many series of the metric have a value. */
KOORD_EXPORT uint64_t koord_test_series(koord_test *test, const char *metric);
/* Returns an intent that the last evaluate() proposed; its texts are also NUL-terminated. NULL: the index is too
 * large. */
KOORD_EXPORT const koord_intent *koord_test_proposal(koord_test *test, uint32_t index);
/* Returns a standing verdict that the plugin posted, in the order of the first posts. It is valid like other results.
 * NULL: the index is too large. Since 1.1. */
KOORD_EXPORT const koord_verdict *koord_test_verdict(koord_test *test, uint32_t index);
/* Return the value that the last handle() set the field to, and the reason of its reject(). NULL: not called. */
KOORD_EXPORT const char *koord_test_adjustment(koord_test *test, const char *field);
KOORD_EXPORT const char *koord_test_rejection(koord_test *test);
/* Returns the factor by which the last handle() multiplied the field; 1: it did not. */
KOORD_EXPORT double koord_test_factor(koord_test *test, const char *field);

#ifdef __cplusplus
}
#endif
#endif
