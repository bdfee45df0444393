/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plugin on the in-memory host. The test writes the node's files. No framework: CHECK prints the line and
 * continues. */
#include <koordetector/test.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition)))

static void the_first_number_of_the_file_is_the_metric(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/sys/fs/file-nr", "1184\t0\t9223372036854775807\n");
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(isnan(koord_test_value(test, "example_open_files", NULL)));
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_open_files", NULL) == 1184);
  koord_test_close(test);
}

static void each_tick_reads_it_again(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/sys/fs/file-nr", "10\t0\t100\n");
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  koord_test_file(test, "proc/sys/fs/file-nr", "20\t0\t100\n");
  koord_test_advance(test, 1000000000);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_open_files", NULL) == 20);
  CHECK(koord_test_series(test, "example_open_files") == 1);
  koord_test_close(test);
}

static void a_file_of_another_form_is_an_error_and_no_value(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/sys/fs/file-nr", "many\n");
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_E_IO);
  CHECK(strstr(koord_test_why(test), "does not begin with a number") != NULL);
  koord_test_remove(test, "proc/sys/fs/file-nr");
  CHECK(koord_test_tick(test) != KOORD_OK);
  CHECK(strstr(koord_test_why(test), "file-nr") != NULL);
  CHECK(isnan(koord_test_value(test, "example_open_files", NULL)));
  koord_test_close(test);
}

static const char pods[] =
    "items: [{metadata: {uid: u1, namespace: shop, name: cart, annotations: {koordetector.sh/cgroup-dir: web}}, spec: {containers: []}},"
    " {metadata: {uid: u2, namespace: shop, name: gone, annotations: {koordetector.sh/cgroup-dir: ended}}, spec: {containers: []}}]";

static void the_processes_of_a_pod_are_counted_under_its_labels(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/sys/fs/file-nr", "10\t0\t100\n");
  koord_test_file(test, "cgroup/cgroup.controllers", "cpu memory\n");
  koord_test_file(test, "cgroup/web/cgroup.procs", "7\n");
  koord_test_file(test, "cgroup/web/app/cgroup.procs", "8\n9\n");
  CHECK(koord_test_pods(test, pods) == KOORD_OK);
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_pod_processes", "pod_namespace=shop,pod_name=cart") == 3);
  CHECK(koord_test_series(test, "example_pod_processes") == 1);
  koord_test_close(test);
}

int main(void) {
  the_first_number_of_the_file_is_the_metric();
  each_tick_reads_it_again();
  a_file_of_another_form_is_an_error_and_no_value();
  the_processes_of_a_pod_are_counted_under_its_labels();
  printf("4 tests, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
