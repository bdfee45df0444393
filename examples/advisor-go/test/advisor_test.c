/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the finished advisor.so on an in-memory host, because unit tests do not cover the ABI boundary to the host. The
 * test is in C, the language of koordetector/test.h. It is linked with advisor.so, which exports koord_entry_v1. The
 * test has its own folder, because cgo would make it part of the plugin. */
#include <koordetector/test.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition)))

static void each_row_of_the_file_is_a_series(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/1/net/sockstat",
                  "sockets: used 200\nTCP: inuse 20 orphan 0 tw 5 alloc 30 mem 8\nUDP: inuse 4 mem 2\n");
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_sockets", "protocol=TCP,state=inuse") == 20);
  CHECK(koord_test_value(test, "example_sockets", "protocol=UDP,state=inuse") == 4);
  CHECK(koord_test_end(test) == KOORD_OK);
  koord_test_close(test);
}

static void a_file_that_cannot_be_read_fails_the_tick_alone(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) != KOORD_OK);
  CHECK(strstr(koord_test_why(test), "No such file") != NULL);
  koord_test_file(test, "proc/1/net/sockstat",
                  "sockets: used 200\nTCP: inuse 20 orphan 0 tw 5 alloc 30 mem 8\nUDP: inuse 4 mem 2\n");
  CHECK(koord_test_tick(test) == KOORD_OK);
  koord_test_close(test);
}

static void the_sockets_of_a_pod_are_counted_under_its_labels(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/1/net/sockstat", "TCP: inuse 20 orphan 0 tw 5 alloc 30 mem 8\n");
  koord_test_file(test, "proc/42/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 0 alloc 4 mem 1\n");
  koord_test_file(test, "cgroup/cgroup.controllers", "cpu memory\n");
  koord_test_file(test, "cgroup/web/app/cgroup.procs", "43\n42\n");
  koord_test_file(test, "cgroup/web/cgroup.procs", "");
  CHECK(koord_test_pods(
            test,
            "items: [{metadata: {uid: u1, namespace: shop, name: cart, annotations: {koordetector.sh/cgroup-dir: web}},"
            " spec: {containers: []}}]") == KOORD_OK);
  CHECK(koord_test_start(test, NULL, NULL) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_pod_tcp_sockets", "pod_namespace=shop,pod_name=cart") == 4);
  CHECK(koord_test_end(test) == KOORD_OK);
  koord_test_close(test);
}

int main(void) {
  each_row_of_the_file_is_a_series();
  a_file_that_cannot_be_read_fails_the_tick_alone();
  the_sockets_of_a_pod_are_counted_under_its_labels();
  printf("3 tests on the host, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
