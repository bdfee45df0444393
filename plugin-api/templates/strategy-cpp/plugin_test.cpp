// Tests the plugin on an in-memory host. The test writes the node's files.
#include <koordetector/test.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPECT(condition) \
  if (!(condition)) fail(test, #condition, __LINE__)

static void fail(koord_test* test, const char* condition, int line) {
  std::fprintf(stderr, "plugin_test.cpp:%d: expected %s; the host says '%s'\n", line, condition, koord_test_why(test));
  std::exit(1);
}

static const char pods[] = R"({"items": [
  {"metadata": {"uid": "u1", "namespace": "shop", "name": "cart"}, "spec": {"containers": [{"name": "web"}]},
   "status": {"phase": "Running", "qosClass": "Guaranteed"}},
  {"metadata": {"uid": "u2", "namespace": "reports", "name": "nightly"}, "spec": {"containers": [{"name": "main"}]},
   "status": {"phase": "Running", "qosClass": "BestEffort"}}]})";

int main() {
  koord_test* test = koord_test_open(koord_entry_v1);
  if (!test) return 1;

  // Each best-effort pod gets half a CPU, other pods get no limit.
  EXPECT(koord_test_pods(test, pods) == KOORD_OK);
  EXPECT(koord_test_start(test, nullptr, "{}") == KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(koord_test_proposal(test, 0) != nullptr);
  EXPECT(std::strcmp(koord_test_proposal(test, 0)->knob.p, "cpu.max") == 0);
  EXPECT(std::strcmp(koord_test_proposal(test, 0)->value.p, "50000 100000") == 0);
  EXPECT(koord_test_proposal(test, 1) == nullptr);

  // Settings change while the plugin runs. Settings that violate the schema change nothing.
  EXPECT(koord_test_configure(test, R"({"milliCores": 1500})") == KOORD_OK);
  EXPECT(koord_test_configure(test, R"({"milliCores": 0})") != KOORD_OK);
  EXPECT(koord_test_tick(test) == KOORD_OK);
  EXPECT(std::strcmp(koord_test_proposal(test, 0)->value.p, "150000 100000") == 0);

  koord_test_close(test);
  std::puts("all expectations were met");
}
