// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_statistics.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "koordetector/plugin.h"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kCreation = KOORD_STAGE_PRE_CREATE_CONTAINER;

HookReply reply(HookReply::Kind kind, Duration took, std::string text = {}) {
  HookReply made;
  made.kind = kind;
  made.took = took;
  made.text = std::move(text);
  return made;
}

struct Kept {
  ManualClock clock;
  metric::HostMetrics metrics;
  HookStatistics statistics{clock, metrics};

  void note(const HookReply& noted, std::uint32_t stage = kCreation) { statistics.note("gpu", "env", stage, noted); }
  std::string page() const {
    std::string text;
    metrics.write_text(text);
    return text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Kept, "answers are counted by hook and stage, with their latency") {
  for (const Duration took : {Duration(200us), Duration(300us), Duration(4ms)})
    note(reply(HookReply::Kind::answered, took));
  HookReply rejected = reply(HookReply::Kind::answered, 1ms);
  rejected.settings.rejection = "no device";
  note(rejected);
  note(reply(HookReply::Kind::failed, 1ms, "it crashed"));
  note(reply(HookReply::Kind::answered, 1ms), KOORD_STAGE_PRE_RUN_POD_SANDBOX);
  statistics.note_conflict("gpu", "env", kCreation);
  const std::vector<HookUse> all = statistics.all();
  REQUIRE(all.size() == 2);
  CHECK(all[0].stage == KOORD_STAGE_PRE_RUN_POD_SANDBOX);
  const HookUse& use = all[1];
  CHECK(use.asked == 5);
  CHECK(use.failed == 1);
  CHECK(use.rejected == 1);
  CHECK(use.late == 0);
  CHECK(use.conflicts == 1);
  CHECK(use.latency.quantile(0.5) == 0.001);
  CHECK(use.last_error == "it crashed");
}

TEST_CASE_FIXTURE(Kept, "an answer that is late counts with its deadline, and its error has a time") {
  clock.advance(5s);
  note(reply(HookReply::Kind::timed_out, 160ms, "did not answer within 160ms"));
  const HookUse use = statistics.all().at(0);
  CHECK(use.late == 1);
  CHECK(use.last_error == "did not answer within 160ms");
  CHECK(use.last_error_time == clock.now());
  CHECK(use.latency.quantile(0.99) == 0.2);
}

TEST_CASE_FIXTURE(Kept, "an error of a hostile hook is cut and harmless") {
  note(reply(HookReply::Kind::failed, 1ms, "\x1b[2J" + std::string(1 << 20, 'x')));
  const std::string error = statistics.all().at(0).last_error;
  CHECK(error.starts_with("?[2Jxxx"));
  CHECK(error.size() <= HookStatistics::kMostText);
}

TEST_CASE_FIXTURE(Kept, "/metrics has a histogram for each stage and plugin") {
  note(reply(HookReply::Kind::answered, 300us));
  const std::string text = page();
  CHECK_MESSAGE(
      text.find(R"(koordetector_host_hook_seconds_bucket{plugin="gpu",stage="PreCreateContainer",le="0.0005"} 1)") !=
          std::string::npos,
      text);
  CHECK(text.find(R"(koordetector_host_hook_seconds_count{plugin="gpu",stage="PreCreateContainer"} 1)") !=
        std::string::npos);
}
