// SPDX-License-Identifier: Apache-2.0
// The cost of large settings: they are parsed once, not for each node. Counts the bytes that are allocated.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <new>
#include <string>

#include "core/manager/batch_nodes.hpp"
#include "core/manager/cluster_settings.hpp"

using namespace koord;
using namespace koord::manager;

namespace {

thread_local std::size_t allocated = 0;

void* counted(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

template <class Run>
std::size_t bytes_allocated_by(const Run& run) {
  const std::size_t before = allocated;
  run();
  return allocated - before;
}

constexpr int kEntries = 5000;

// Returns a document with a strategy for all nodes, and for each pool from 0 to `entries` - 1.
std::string document(const std::string& cluster, const std::string& list, const std::string& strategy, int entries) {
  std::string text = "{" + cluster + ",\"" + list + "\":[";
  for (int i = 0; i < entries; ++i)
    text += std::string(i == 0 ? "" : ",") + R"({"nodeSelector":{"matchLabels":{"pool":")" + std::to_string(i) +
            "\"}}," + strategy + "}";
  return text + "]}";
}

ClusterSettings settings_with(int entries) {
  const boost::json::object data{
      {"colocation-config", document(R"("enable":true,"cpuReclaimThresholdPercent":70)", "nodeConfigs",
                                     R"("cpuReclaimThresholdPercent":50)", entries)},
      {"resource-threshold-config", document(R"("clusterStrategy":{"enable":true})", "nodeStrategies",
                                             R"("cpuSuppressThresholdPercent":60)", entries)}};
  kube::KeptObject object;
  object.text = boost::json::serialize(boost::json::object{{"data", data}});
  ClusterSettings settings("a/b");
  settings.take(&object);
  REQUIRE(settings.problems().empty());
  return settings;
}

state::StringMap pool(int number) { return {{"pool", std::to_string(number)}}; }

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("the settings of a node cost the same with one entry and with 5,000") {
  const ClusterSettings small = settings_with(1), large = settings_with(kEntries);
  const auto cost_in = [](const ClusterSettings& settings) {
    return bytes_allocated_by([&] {
      (void)settings.colocation().of_node(pool(0), {});
      (void)settings.slo().spec_of(pool(0), {});
    });
  };
  CHECK(cost_in(large) == cost_in(small));
}

TEST_CASE("new settings for 100 nodes cost less than one more parsing of them") {
  const ClusterSettings large = settings_with(kEntries);
  BatchNodes nodes({});
  for (int i = 0; i < 100; ++i) {
    state::Node node;
    node.name = "node-" + std::to_string(i);
    node.labels = pool(i);
    nodes.take_node(Time{}, node);
  }
  CHECK(bytes_allocated_by([&] { nodes.set_colocation(Time{}, large.colocation(), true); }) < 100 * kEntries);
}

TEST_CASE("each node has the settings of the first entry that selects it") {
  const ClusterSettings large = settings_with(kEntries);
  for (int number : {0, 1, kEntries - 1})
    CHECK(large.colocation().of_node(pool(number), {}).settings.cpu.reclaim_percent == 50);
  CHECK(large.colocation().of_node(pool(kEntries), {}).settings.cpu.reclaim_percent == 70);
  CHECK(large.slo().spec_of(pool(1), {}).spec.find("\"cpuSuppressThresholdPercent\":60") != std::string::npos);
  CHECK(large.slo().spec_of(pool(kEntries), {}).spec.find("\"cpuSuppressThresholdPercent\":60") == std::string::npos);
}
