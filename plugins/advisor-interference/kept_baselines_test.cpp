// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/kept_baselines.hpp"

#include <doctest/doctest.h>

#include <span>

#include "plugins/advisor-interference/cache_verdicts.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using namespace koord::test;
using namespace std::chrono_literals;
using analysis::CpuAnalysis;

namespace {

constexpr Time kBegin(1000s);

// Returns an analysis with a baseline for the workload.
CpuAnalysis learnt(const std::string& workload) {
  CpuAnalysis analysis;
  for (int i = 0; i < 100; ++i)
    analysis.add(kBegin + i * 1s, {{workload, {.subject = 1, .run = 0.2, .wait = 0.1, .held_up = 0.05}}});
  return analysis;
}

struct OnHost {
  std::string kept() { return plugin::Kv(host.abi()).get(KeptBaselines::kKey).value_or(""); }
  // Offers baselines, as the agent does.
  void offer(const std::string& text) {
    REQUIRE(host.services().feed.store().put(analysis::kOfferedBaselinesKey, std::as_bytes(std::span(text))));
  }

  FakeNode node;
  FakeHost host{node};
};

}  // namespace

TEST_CASE("baselines are saved at each interval and on request, and restored once") {
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

TEST_CASE("records that cannot be read are named and left out, and their lines stay in the store") {
  OnHost on;
  const std::string key = KeptBaselines::kKey;
  const std::string good = analysis::write_baselines(learnt("shop/cart").save(kBegin + 100s));
  const std::string newer = "2 00000000 cpu shop/web";
  plugin::Kv(on.host.abi()).set(key, newer + "\n" + good + good.substr(0, good.size() / 2));
  CpuAnalysis analysis;
  const std::vector<std::string> problems = KeptBaselines(on.host.abi(), 1min).restore_once(analysis, kBegin + 100s);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0] == "baselines/cpu, line 1: it is not of version 1; it is left out");
  CHECK(problems[1] == "baselines/cpu, line 3: its checksum is wrong; it is left out");
  CHECK(problems[2] == "baselines/cpu: lines that are left out stay for a week as baselines/cpu.left-out");
  CHECK(plugin::Kv(on.host.abi()).get(left_out_key(key)) == newer + "\n" + good.substr(0, good.size() / 2) + "\n");
  REQUIRE(analysis.save(kBegin + 100s).size() == 1);
  CHECK(analysis.save(kBegin + 100s)[0].workload == "shop/cart");
}

TEST_CASE("four keys of the largest size, and what is left out of each, fit into a plugin's store") {
  OnHost on;
  const plugin::Kv kv(on.host.abi());
  for (const char* key : {KeptBaselines::kKey, KeptMemory::kKey, KeptBlockIo::kKey, CacheVerdicts::kKey}) {
    CHECK_NOTHROW(kv.set(key, std::string(analysis::kMaxSavedBytes, 'x')));
    CHECK_NOTHROW(kv.set(left_out_key(key), std::string(analysis::kMaxUnreadBytes, 'x')));
  }
}

TEST_CASE("a stop before the first window does not replace the stored baselines") {
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

TEST_CASE("levels of memory and block I/O are stored like those of the CPU") {
  OnHost on;
  analysis::MemoryAnalysis memory, next_memory;
  KeptMemory kept_memory(on.host.abi(), 1min);
  CHECK(kept_memory.restore_once(memory, kBegin).empty());
  const analysis::MemorySubject reading{"shop/db", {.subject = 1, .refaults = 10, .read_time = 0.0003}};
  for (int i = 0; i < 100; ++i) memory.add(kBegin + i * 1s, {reading});
  kept_memory.save_if_due(memory, kBegin + 100s);
  KeptMemory kept_by_next(on.host.abi(), 1min);
  CHECK(kept_by_next.restore_once(next_memory, kBegin + 110s).empty());
  REQUIRE(next_memory.save(kBegin + 110s).size() == 1);
  CHECK(next_memory.save(kBegin + 110s)[0].windows == 100);

  analysis::IoAnalysis io, same_disk, other_disk;
  analysis::IoStream stream{.device = 7, .requests = 200, .mean = 0.001, .p99 = 0.002};
  stream.alone_requests = 200;
  stream.alone_mean = 0.001;
  std::string disk = "vda";
  const auto name = [&disk](std::uint32_t) { return disk; };
  KeptBlockIo kept_io(on.host.abi(), 1min, {name});
  kept_io.restore_once(io, kBegin);
  for (int i = 0; i < 20; ++i) io.add(kBegin + i * 1s, {{"shop/db", {.subject = 1, .streams = {stream}}}});
  kept_io.save(io, kBegin + 20s);
  CHECK(KeptBlockIo(on.host.abi(), 1min, {name}).restore_once(same_disk, kBegin + 30s).empty());
  CHECK(same_disk.save(kBegin + 30s).size() == 2);
  disk = "vdb";
  CHECK(KeptBlockIo(on.host.abi(), 1min, {name}).restore_once(other_disk, kBegin + 30s).empty());
  CHECK(other_disk.save(kBegin + 30s).empty());
}

TEST_CASE("offered baselines are adopted once, after the node's own, and damaged ones are reported") {
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
