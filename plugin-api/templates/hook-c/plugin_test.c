/* Tests the plugin on an in-memory host. The test writes the node's files. */
#include <koordetector/test.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition) \
  if (!(condition)) fail(test, #condition, __LINE__)

static void fail(koord_test *test, const char *condition, int line) {
  fprintf(stderr, "plugin_test.c:%d: expected %s; the host says '%s'\n", line, condition, koord_test_why(test));
  exit(1);
}

static int is_set(koord_test *test, const char *field, const char *value) {
  const char *set = koord_test_adjustment(test, field);
  return set && strcmp(set, value) == 0;
}

static const char pods[] = "{\"items\": [{\"metadata\": {\"uid\": \"u1\", \"namespace\": \"shop\", \"name\": \"cart\","
                           "  \"labels\": {\"example.com/tier\": \"interactive\"}},"
                           "  \"spec\": {\"containers\": [{\"name\": \"web\"}]},"
                           "  \"status\": {\"phase\": \"Running\", \"qosClass\": \"Guaranteed\"}},"
                           " {\"metadata\": {\"uid\": \"u2\", \"namespace\": \"reports\", \"name\": \"nightly\"},"
                           "  \"spec\": {\"containers\": [{\"name\": \"main\"}]},"
                           "  \"status\": {\"phase\": \"Running\", \"qosClass\": \"BestEffort\"}}]}";

int main(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  if (!test) return 1;

  /* Containers of interactive pods get shares and the tier, other containers get nothing. */
  EXPECT(koord_test_pods(test, pods) == KOORD_OK);
  EXPECT(koord_test_start(test, NULL, "{}") == KOORD_OK);
  EXPECT(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u1", "web") == KOORD_OK);
  EXPECT(is_set(test, "linux.cpu.shares", "2048"));
  EXPECT(is_set(test, "env:POD_TIER", "interactive"));
  EXPECT(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u2", "main") == KOORD_OK);
  EXPECT(koord_test_adjustment(test, "linux.cpu.shares") == NULL);

  /* Settings change while the plugin runs. Settings that violate the schema change nothing. */
  EXPECT(koord_test_configure(test, "{\"shares\": 4096}") == KOORD_OK);
  EXPECT(koord_test_configure(test, "{\"shares\": 1}") != KOORD_OK);
  EXPECT(koord_test_handle(test, KOORD_STAGE_PRE_CREATE_CONTAINER, "u1", "web") == KOORD_OK);
  EXPECT(is_set(test, "linux.cpu.shares", "4096"));

  koord_test_close(test);
  puts("all expectations were met");
  return 0;
}
