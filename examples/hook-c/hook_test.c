/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plugin on the in-memory host. No framework: CHECK prints the line and continues. */
#include <koordetector/test.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? (void)0 : (++failures, (void)printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition)))

#define SHARES "linux.cpu.shares"
#define QOS_CLASS "env:POD_QOS_CLASS"

static const char pods[] =
    "{\"items\": ["
    " {\"metadata\": {\"uid\": \"u1\", \"namespace\": \"shop\", \"name\": \"cart\","
    "   \"labels\": {\"koordinator.sh/qosClass\": \"LS\"}},"
    "  \"spec\": {\"containers\": [{\"name\": \"web\"}]}, \"status\": {\"phase\": \"Pending\", \"qosClass\": \"Burstable\"}},"
    " {\"metadata\": {\"uid\": \"u2\", \"namespace\": \"reports\", \"name\": \"nightly\","
    "   \"labels\": {\"koordinator.sh/qosClass\": \"BE\"}},"
    "  \"spec\": {\"containers\": [{\"name\": \"main\"}]}, \"status\": {\"phase\": \"Pending\", \"qosClass\": \"BestEffort\"}}]}";

static koord_test *started(const char *config) {
  koord_test *test = koord_test_open(koord_entry_v1);
  CHECK(koord_test_pods(test, pods) == KOORD_OK);
  CHECK(koord_test_start(test, NULL, config) == KOORD_OK);
  return test;
}

static int is_set(koord_test *test, const char *field, const char *value) {
  const char *set = koord_test_adjustment(test, field);
  return set && strcmp(set, value) == 0;
}

static void a_best_effort_container_gets_the_least_shares_and_its_class(void) {
  koord_test *test = started(NULL);
  CHECK(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u2", "main") == KOORD_OK);
  CHECK(is_set(test, SHARES, "2"));
  CHECK(is_set(test, QOS_CLASS, "BE"));
  CHECK(koord_test_rejection(test) == NULL);
  koord_test_close(test);
}

static void a_class_without_a_setting_keeps_the_shares_of_the_runtime(void) {
  koord_test *test = started("{}");
  CHECK(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u1", "web") == KOORD_OK);
  CHECK(koord_test_adjustment(test, SHARES) == NULL);
  CHECK(is_set(test, QOS_CLASS, "LS"));
  koord_test_close(test);
}

static void a_sandbox_gets_shares_and_no_environment(void) {
  koord_test *test = started("{\"shares\": {\"LS\": 4096}}");
  CHECK(koord_test_handle(test, KOORD_STAGE_PRE_RUN_POD_SANDBOX, "u1", NULL) == KOORD_OK);
  CHECK(is_set(test, SHARES, "4096"));
  CHECK(koord_test_adjustment(test, QOS_CLASS) == NULL);
  koord_test_close(test);
}

static void settings_change_while_it_runs_and_wrong_ones_change_nothing(void) {
  koord_test *test = started("{\"shares\": {\"BE\": 10}}");
  CHECK(koord_test_configure(test, "{\"shares\": {\"BE\": 20}}") == KOORD_OK);
  CHECK(koord_test_configure(test, "{\"shares\": {\"BE\": 1}}") != KOORD_OK);
  CHECK(koord_test_configure(test, "{\"shares\": {\"be\": 30}}") != KOORD_OK);
  CHECK(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u2", "main") == KOORD_OK);
  CHECK(is_set(test, SHARES, "20"));
  koord_test_close(test);
}

int main(void) {
  a_best_effort_container_gets_the_least_shares_and_its_class();
  a_class_without_a_setting_keeps_the_shares_of_the_runtime();
  a_sandbox_gets_shares_and_no_environment();
  settings_change_while_it_runs_and_wrong_ones_change_nothing();
  printf("4 tests, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
