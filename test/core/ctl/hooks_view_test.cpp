// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/hooks_view.hpp"

#include <doctest/doctest.h>

using koord::ctl::render_hooks;

namespace {

std::string shown(const std::string& answer) {
  auto rendered = render_hooks(answer);
  REQUIRE_MESSAGE(rendered, rendered.error().message());
  return *rendered;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("koordctl hooks shows the connection, the proxy's questions, and a row for each hook and stage") {
  CHECK(
      shown(R"({"nri": {"socket": "/run/nri.sock", "state": "active", "since": 1767322800, "connections": 2,
      "runtime": "containerd", "version": "v1.7.24", "lastError": "", "stages": [{"stage": "CreateContainer", "calls": 7,
      "refused": 1, "timedOut": 0, "late": 0, "invalid": 0, "p50Seconds": 0.001, "p99Seconds": 0.2}]},
    "proxy": {"asked": 3, "changed": 1, "unchanged": 1, "rejected": 0, "invalid": 1, "last": 1767322800,
      "lastProblem": "pod: expected a mapping"},
    "hooks": [{"plugin": "hook-gpu", "hook": "hook-gpu", "stage": "PreCreateContainer", "mode": "enforce", "running": true,
      "asked": 7, "late": 1, "failed": 0, "rejected": 1, "conflicts": 0, "p50Seconds": 0.0005, "p99Seconds": 0.2,
      "lastError": "did not answer within 160ms", "lastErrorTime": 1767322800},
     {"plugin": "acme", "hook": "env", "stage": "PreRunPodSandbox", "mode": "shadow", "running": false, "asked": 0,
      "late": 0, "failed": 0, "rejected": 0, "conflicts": 0}]})") ==
      "NRI: active at '/run/nri.sock' since 2026-01-02 03:00:00, connections: 2\n"
      "  runtime: containerd v1.7.24\n"
      "koord-cri-proxy: 3 questions, the last at 2026-01-02 03:00:00; answers: 1 changed, 1 unchanged, 0 rejected, 1 "
      "invalid\n"
      "  last invalid question: pod: expected a mapping\n"
      "\n"
      "EVENT            CALLS  REFUSED  TIMED OUT  LATE  INVALID  P50 <=  P99 <=\n"
      "CreateContainer      7        1          0     0        0  1.00ms   200ms\n"
      "\n"
      "HOOK      STAGE               MODE                  ASKED  LATE  FAILED  REJECTED  CONFLICTS  P50 <=  P99 <=  LAST "
      "ERROR\n"
      "hook-gpu  PreCreateContainer  enforce                   7     1       0         1          0   500us   200ms  "
      "2026-01-02 03:00:00 did not answer within 160ms\n"
      "acme      PreRunPodSandbox    shadow (not running)      0     0       0         0          0       -       -  -\n");
}

TEST_CASE("koordctl hooks says that nothing asks hooks, and that no hook runs") {
  CHECK(shown(R"({"nri": {"socket": "", "state": "off"}, "proxy": {"asked": 0}, "hooks": []})") ==
        "NRI: off, hooks.nri.socket is empty\n"
        "koord-cri-proxy: no question yet\n"
        "\n"
        "No runtime hook runs; koordctl features lists their gates.\n");
  CHECK(has(shown(R"({"nri": {"socket": "/run/nri.sock", "state": "unused"}})"),
            "NRI: '/run/nri.sock' is not used yet, no hook runs\n"));
  CHECK(has(
      shown(R"({"nri": {"socket": "/s", "state": "waiting", "since": 0, "connections": 0, "lastError": "refused"}})"),
      "  last error: refused\n"));
}

TEST_CASE("koordctl hooks names the class of a plugin that has several hooks") {
  const std::string text =
      shown(R"({"hooks": [{"plugin": "acme", "hook": "env"}, {"plugin": "acme", "hook": "cpu"}]})");
  CHECK_MESSAGE((has(text, "acme/env") && has(text, "acme/cpu")), text);
}

TEST_CASE("koordctl hooks shows no control characters of a hook's error") {
  CHECK(has(shown("{\"hooks\": [{\"plugin\": \"a\", \"lastError\": \"\\u001b[2J\"}]}"), "?[2J"));
}
