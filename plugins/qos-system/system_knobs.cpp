// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-system/system_knobs.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "koordetector/plugin.h"

namespace koord::system_knobs {
namespace {

// koordlet's range, with one more limit: at most a twentieth of the node's memory is kept free, because otherwise too
// little is left for pods.
constexpr std::int64_t kLeastMinFreeKb = 10240, kMostMinFreeKb = 10485760;
constexpr std::int64_t kMostMinFreeShare = 20;
constexpr std::int64_t kMostWatermarkScale = 400;

std::string number(std::int64_t value) { return std::to_string(value); }

struct Range {
  std::int64_t least, most;
  bool holds(std::int64_t value) const { return value >= least && value <= most; }
  std::string text() const { return "from " + number(least) + " to " + number(most); }
};

class Planner {
 public:
  Plan make(const slo::System& strategy, std::optional<std::int64_t> memory) && {
    if (strategy.min_free_kbytes_factor) min_free(*strategy.min_free_kbytes_factor, memory);
    plain("vm.watermark_scale_factor", "watermarkScaleFactor", strategy.watermark_scale_factor,
          {1, kMostWatermarkScale});
    plain("memcg_reaper.reap_background", "memcgReapBackGround", strategy.memcg_reap_background, {0, 1});
    plain("kernel.sched_group_identity_enabled", "schedGroupIdentityEnabled", strategy.sched_group_identity_enabled,
          {0, 1});
    plain("kernel.sched_idle_saver_wmark", "schedIdleSaverWmark", strategy.sched_idle_saver_wmark, {0, INT64_MAX});
    plain("pagecache_limit.enabled", "pageCacheLimitEnabled", strategy.page_cache_limit_enabled, {0, 1});
    for (const auto& [feature, on] : strategy.sched_features) sched_feature(feature, on);
    return std::move(plan_);
  }

 private:
  void propose(std::string_view knob, std::string value, std::string reason, strategy::Inputs inputs) {
    plan_.intents.push_back(
        {KOORD_LEVEL_NODE, std::string(knob), "", std::move(value), std::move(reason), std::move(inputs)});
  }

  void refuse(std::string_view field, std::string_view found, std::string_view expected) {
    plan_.problems.push_back("systemStrategy." + std::string(field) + ": found " + std::string(found) + ", expected " +
                             std::string(expected));
  }

  void plain(std::string_view knob, std::string_view field, slo::Number value, Range range) {
    if (!value) return;
    if (!range.holds(*value)) return refuse(field, number(*value), "a number " + range.text());
    propose(knob, number(*value), "systemStrategy." + std::string(field) + " says so",
            {{std::string(field), number(*value)}});
  }

  // Source: Koordinator, ⌊memory / 1024⌋ · factor / 10000 in KiB.
  void min_free(std::int64_t factor, std::optional<std::int64_t> memory) {
    constexpr std::string_view kField = "minFreeKbytesFactor";
    if (!memory || *memory <= 0) return;
    const std::int64_t memory_kb = *memory / 1024;
    const Range range{kLeastMinFreeKb, std::min(kMostMinFreeKb, memory_kb / kMostMinFreeShare)};
    const bool overflows = factor > 10000;
    const std::int64_t kb = overflows ? memory_kb : memory_kb / 10000 * factor + memory_kb % 10000 * factor / 10000;
    if (!range.holds(kb))
      return refuse(kField, number(factor) + ", which makes " + number(kb) + " KiB on this node",
                    "a factor for an amount " + range.text() + " KiB");
    propose("vm.min_free_kbytes", number(kb),
            number(factor) + " ten-thousandths of the node's memory, by systemStrategy." + std::string(kField),
            {{"memory_kbytes", number(memory_kb)}, {std::string(kField), number(factor)}});
  }

  // Adds "NAME" or "NO_NAME", as the kernel spells it.
  void sched_feature(const std::string& feature, bool on) {
    const bool is_name = !feature.empty() && feature.size() <= 64 && !feature.starts_with("NO_") &&
                         feature.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
    if (!is_name)
      return refuse("schedFeatures", "'" + feature.substr(0, 64) + "'", "a feature's name in capitals, without NO_");
    propose("sched_features", on ? feature : "NO_" + feature, "systemStrategy.schedFeatures says so",
            {{feature, on ? "true" : "false"}});
  }

  Plan plan_;
};

}  // namespace

Plan plan(const slo::System& strategy, std::optional<std::int64_t> memory) { return Planner().make(strategy, memory); }

}  // namespace koord::system_knobs
