// SPDX-License-Identifier: Apache-2.0
// A NodeSLO as the host writes it and as plugins read it: tests one contract with the code of both sides.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "core/base/parse.hpp"
#include "core/state/slo.hpp"
#include "core/state/slo_field.hpp"
#include "core/state/slo_merge.hpp"
#include "plugins/shared/slo/node_slo.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

using namespace koord;

namespace {

slo::NodeSlo read_through_the_host(std::string_view spec) {
  const Result<state::EffectiveSlo> effective = state::effective_slo(spec);
  REQUIRE(effective);
  const Result<slo::ParsedSlo> parsed = slo::parse_node_slo(effective->spec);
  REQUIRE(parsed);
  CHECK(parsed->problems == slo::Problems{});
  return parsed->slo;
}

// Returns values at the bounds of a field, and some of other types.
std::vector<boost::json::value> values_for(const state::SloField& field) {
  std::vector<boost::json::value> values{-1, 0, 1, 5.0, 1.5, true, "nonsense", "10Gi"};
  for (const std::int64_t end : {field.least, field.most}) values.emplace_back(end);
  if (field.least != state::kNoLeast) values.emplace_back(field.least - 1);
  if (field.most != state::kNoMost) values.emplace_back(field.most + 1);
  // A plugin reads an empty word as a missing choice; the host passes no empty word.
  if (field.type != state::SloType::choice) values.emplace_back("");
  std::string_view choices = field.choices;
  while (const auto choice = next_field(choices, '|')) values.emplace_back(std::string(*choice));
  return values;
}

bool plugin_accepts(const state::SloLeaf& leaf, boost::json::value value) {
  for (auto name = leaf.names.rbegin(); name != leaf.names.rend(); ++name) {
    boost::json::object object;
    object[*name] = std::move(value);
    value = std::move(object);
  }
  return slo::parse_node_slo(boost::json::serialize(value)).value().problems.empty();
}

}  // namespace

TEST_CASE("a plugin reads every section of the host's defaults, without a complaint") {
  const slo::NodeSlo slo = read_through_the_host("{}");
  REQUIRE(slo.threshold);
  CHECK(slo.threshold->enable == false);
  CHECK(slo.threshold->cpu_suppress_threshold_percent == 65);
  CHECK(slo.threshold->cpu_suppress_policy == slo::SuppressPolicy::cpuset);
  CHECK_FALSE(slo.threshold->cpu_suppress_min_percent);
  CHECK(slo.cpu_burst == slo::CpuBurst{slo::BurstPolicy::none, 1000, 300, -1, 50});
  REQUIRE(slo.resource_qos);
  for (const auto& section : {slo.resource_qos->lsr, slo.resource_qos->ls, slo.resource_qos->be}) {
    REQUIRE(section);
    CHECK(section->memory->enable == false);
    CHECK(section->memory->wmark_ratio == 0);
    CHECK(section->resctrl->cat_range_end_percent == 100);
  }
}

TEST_CASE(
    "a strategy is inactive for a plugin when the host says so, and when the plugin reads the same figure unchecked") {
  for (const char* spec :
       {R"({"resourceUsedThresholdWithBE": {"memoryEvictThresholdPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"memoryEvictLowerPercent": 101}})",
        R"({"resourceUsedThresholdWithBE": {"memoryAllocatableEvictThresholdPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"memoryAllocatableEvictLowerPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictBESatisfactionUpperPercent": 101}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictBESatisfactionLowerPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictBEUsageThresholdPercent": 101}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictTimeWindowSeconds": 0}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictThresholdPercent": 101}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictLowerPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"cpuEvictPolicy": "x"}})",
        R"({"resourceUsedThresholdWithBE": {"cpuAllocatableEvictThresholdPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"cpuAllocatableEvictLowerPercent": -1}})",
        R"({"resourceUsedThresholdWithBE": {"evictEnabledPriorityThreshold": 1.5}})",
        R"({"resourceUsedThresholdWithBE": {"allocatableEvictPriorityThreshold": 8000}})",
        R"({"cpuBurstStrategy": {"policy": "nonsense"}})",
        R"({"cpuBurstStrategy": {"cfsQuotaBurstPercent": 90}})",
        R"({"cpuBurstStrategy": 7})",
        R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, "catRangeEndPercent": 101}}}})",
        R"({"resourceQOSStrategy": {"lsrClass": {"resctrlQOS": {"enable": "yes"}}}})",
        R"({"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 130}})"}) {
    CAPTURE(spec);
    const auto names = [](const slo::NodeSlo& slo) {
      std::vector<std::string> all;
      for (const auto& [name, reason] : slo.inactive) all.push_back(name);
      return all;
    };
    const Result<slo::ParsedSlo> unchecked = slo::parse_node_slo(spec);
    REQUIRE(unchecked);
    CHECK(names(read_through_the_host(spec)) == names(unchecked->slo));
  }
}

TEST_CASE("names in another case and numbers with a point arrive as the host reads them") {
  const slo::NodeSlo slo = read_through_the_host(R"({"SystemStrategy":{"WATERMARKSCALEFACTOR":150.0}})");
  CHECK(slo.system->watermark_scale_factor == 150);
}

TEST_CASE("the plugins' recommendations for a class of a pod on 'auto' are the host's defaults of that class") {
  const std::string on = R"({"memoryQOS":{"enable":true}})";
  slo::NodeSlo slo = read_through_the_host(R"({"resourceQOSStrategy":{"lsrClass":)" + on + R"(,"lsClass":)" + on +
                                           R"(,"beClass":)" + on + "}}");
  for (const std::uint32_t qos : {KOORD_QOS_LSR, KOORD_QOS_LS, KOORD_QOS_BE, KOORD_QOS_SYSTEM}) {
    CAPTURE(qos);
    slo::MemoryQos of_class = *slo::class_for(*slo.resource_qos, qos)->memory;
    of_class.enable = false;
    CHECK(slo::recommended_memory_qos(qos) == of_class);
  }
}

TEST_CASE("a plugin accepts the values that the host's table allows for a field, and no others") {
  using enum state::SloType;
  std::size_t compared = 0;
  for (const state::SloLeaf& leaf : state::slo_leaves()) {
    const state::SloType type = leaf.field->type;
    const bool has_parts = type == list || type == flags || type == object || type == anything;
    const bool is_read_by_plugins = !plugin_accepts(leaf, boost::json::array());
    if (has_parts || !is_read_by_plugins) continue;
    ++compared;
    for (const boost::json::value& value : values_for(*leaf.field))
      CHECK_MESSAGE(plugin_accepts(leaf, value) == state::taken_value(*leaf.field, value).has_value(), leaf.path, " ",
                    boost::json::serialize(value));
  }
  CHECK(compared > 100);
}
