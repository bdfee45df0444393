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

int main(void) {
  koord_test *test = koord_test_open(koord_entry_v1);
  if (!test) return 1;

  /* By default it uses the exporter's usual port. */
  EXPECT(koord_test_start(test, NULL, "{}") == KOORD_OK);
  EXPECT(strcmp(koord_test_url(test), "http://127.0.0.1:9100/metrics") == 0);

  /* Settings change while the plugin runs. Settings that violate the schema change nothing. */
  EXPECT(koord_test_configure(test, "{\"port\": 9400}") == KOORD_OK);
  EXPECT(koord_test_configure(test, "{\"port\": 70000}") != KOORD_OK);
  EXPECT(strcmp(koord_test_url(test), "http://127.0.0.1:9400/metrics") == 0);

  koord_test_close(test);
  puts("all expectations were met");
  return 0;
}
