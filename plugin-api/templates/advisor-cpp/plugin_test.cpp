// Tests the plugin on an in-memory host. The test writes the node's files.
#include <koordetector/test.h>

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition) \
  if (!(condition)) fail(test, #condition, __LINE__)

static void fail(koord_test* test, const char* condition, int line) {
  std::fprintf(stderr, "plugin_test.cpp:%d: expected %s; the host says '%s'\n", line, condition, koord_test_why(test));
  std::exit(1);
}

int main() {
  koord_test* test = koord_test_open(koord_entry_v1);
  if (!test) return 1;

  // By default it reports the load of one minute.
  koord_test_file(test, "proc/loadavg", "0.50 0.25 0.75 2/310 4711\n");
  EXPECT(koord_test_start(test, nullptr, "{}") == KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(koord_test_value(test, "@METRIC@_load", nullptr) == 0.5);

  // Settings change while the plugin runs. Settings that violate the schema change nothing.
  EXPECT(koord_test_configure(test, R"({"minutes": 15})") == KOORD_OK);
  EXPECT(koord_test_configure(test, R"({"minutes": 2})") != KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(koord_test_value(test, "@METRIC@_load", nullptr) == 0.75);

  // A file in an unexpected format is an error and gives no value.
  koord_test_file(test, "proc/loadavg", "busy\n");
  EXPECT(koord_test_tick(test) == KOORD_E_IO);

  koord_test_close(test);
  std::puts("all expectations were met");
}
