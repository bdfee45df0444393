// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/kept_baselines.hpp"

#include <doctest/doctest.h>

#include <span>

#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using namespace koord::test;
using namespace std::chrono_literals;
using analysis::CpuAnalysis;

namespace {

constexpr Time kBegin(1000s);

// An analysis that knows a workload.
CpuAnalysis learnt(const std::string& workload) {
  CpuAnalysis analysis;
  for (int i = 0; i < 100; ++i)
    analysis.add(kBegin + i * 1s, {{workload, {.subject = 1, .run = 0.2, .wait = 0.1, .held_up = 0.05}}});
  return analysis;
}

struct OnHost {
  std::string kept() { return plugin::Kv(host.abi()).get(KeptBaselines::kKey).value_or(""); }
  // As the agent does it.
  void offer(const std::string& text) {
    REQUIRE(host.services().feed.store().put(analysis::kOfferedBaselinesKey, std::as_bytes(std::span(text))));
  }

  FakeNode node;
  FakeHost host{node};
};

}  // namespace

TEST_CASE("baselines are saved at each interval and when asked to, and restored once") {
  OnHost on;
  KeptBaselines kept(on.host.abi(), 1min);
  CpuAnalysis analysis = learnt("shop/cart");
  CHECK(kept.restore_once(analysis, kBegin).empty());
  kept.save_if_due(analysis, kBegin + 59s);
  CHECK(on.kept().empty());
  kept.save_if_due(analysis, kBegin + 60s);
  CHECK(on.kept().find("shop/cart") != std::string::npos);
  kept.save(learnt("shop/web"), kBegin + 61s);
  CHECK(on.kept().find("shop/web") != std::string::npos);

  CpuAnalysis next;
  KeptBaselines kept_by_next(on.host.abi(), 1min);
  kept_by_next.restore_once(next, kBegin + 120s);
  REQUIRE(next.save(kBegin + 120s).size() == 1);
  CHECK(next.save(kBegin + 120s)[0].workload == "shop/web");
  plugin::Kv(on.host.abi()).set(KeptBaselines::kKey, "nonsense\n");
  CHECK(kept_by_next.restore_once(next, kBegin + 121s).empty());
}

TEST_CASE("kept baselines are not replaced before they were read: a stop before the first window leaves them") {
  OnHost on;
  CpuAnalysis before = learnt("shop/cart");
  KeptBaselines first(on.host.abi(), 1min);
  first.restore_once(before, kBegin);
  first.save(before, kBegin + 100s);
  const std::string text = on.kept();

  KeptBaselines second(on.host.abi(), 1min);
  second.save(CpuAnalysis(), kBegin + 200s);
  second.save_if_due(CpuAnalysis(), kBegin + 300s);
  CHECK(on.kept() == text);
}

TEST_CASE("baselines that the agent offers are taken once, after the node's own, and damaged ones are named") {
  OnHost on;
  KeptBaselines kept(on.host.abi(), 1min);
  CpuAnalysis analysis;
  const std::string offered = analysis::write_baselines(learnt("shop/cart").save(kBegin + 100s));
  on.offer(offered);
  CHECK(kept.adopt_offered(analysis, kBegin).empty());
  CHECK(analysis.save(kBegin).empty());
  CHECK(kept.restore_once(analysis, kBegin).empty());
  CHECK(kept.adopt_offered(analysis, kBegin + 100s).empty());
  REQUIRE(analysis.save(kBegin + 100s).size() == 1);
  CHECK(analysis.save(kBegin + 100s)[0].workload == "shop/cart");
  on.offer("nonsense\n" + offered);
  CHECK(kept.adopt_offered(analysis, kBegin + 101s).size() == 1);
  CHECK(kept.adopt_offered(analysis, kBegin + 102s).empty());
}
