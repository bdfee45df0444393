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

static const char pods[] = "{\"items\": [{\"metadata\": {\"uid\": \"u1\", \"namespace\": \"shop\", \"name\": \"cart\"},"
                           "  \"spec\": {\"containers\": [{\"name\": \"web\"}]},"
                           "  \"status\": {\"phase\": \"Running\", \"qosClass\": \"Guaranteed\"}},"
                           " {\"metadata\": {\"uid\": \"u2\", \"namespace\": \"reports\", \"name\": \"nightly\"},"
                           "  \"spec\": {\"containers\": [{\"name\": \"main\"}]},"
                           "  \"status\": {\"phase\": \"Running\", \"qosClass\": \"BestEffort\"}}]}";

int main(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  if (!test) return 1;

  /* Each best-effort pod gets half a CPU, other pods get no limit. */
  EXPECT(koord_test_pods(test, pods) == KOORD_OK);
  EXPECT(koord_test_start(test, NULL, "{}") == KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(koord_test_proposal(test, 0) != NULL);
  EXPECT(strcmp(koord_test_proposal(test, 0)->knob.p, "cpu.max") == 0);
  EXPECT(strcmp(koord_test_proposal(test, 0)->value.p, "50000 100000") == 0);
  EXPECT(koord_test_proposal(test, 1) == NULL);

  /* Settings change while the plugin runs. Settings that violate the schema change nothing. */
  EXPECT(koord_test_configure(test, "{\"milliCores\": 1500}") == KOORD_OK);
  EXPECT(koord_test_configure(test, "{\"milliCores\": 0}") != KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(strcmp(koord_test_proposal(test, 0)->value.p, "150000 100000") == 0);

  koord_test_close(test);
  puts("all expectations were met");
  return 0;
}
