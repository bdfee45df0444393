// SPDX-License-Identifier: Apache-2.0
// The metrics of pressure for one level (node, pod or container), and the series of one subject. Used on the plugin's
// strand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-psi/psi.hpp"

namespace koord::psi {

// Defines "<level>_psi" and its related metrics.
struct LevelMetrics {
  LevelMetrics() = default;
  LevelMetrics(const koord_host* host, const std::string& level);

  plugin::Metric percent, stalled_seconds, stalled_ratio, cpu_full_supported;
};

// The parts of a pressure that have series.
struct Selection {
  std::vector<std::size_t> precisions;  // indexes of kPrecisions
  bool ratio = false;
  bool cpu_full = true;  // false for the node, where the value has no meaning
  bool cpu_full_supported = true;
};

// The series of one subject, each created with its first value. Metrics and selection must outlive it.
class PressureSeries {
 public:
  PressureSeries(const LevelMetrics& metrics, const Selection& selection, std::uint64_t subject)
      : metrics_(&metrics), selection_(&selection), subject_(subject) {}

  void report(Resource resource, const Pressure& pressure, std::uint64_t read_ns, plugin::Batch& batch);

 private:
  struct Line {
    std::array<std::uint64_t, kPrecisions.size()> percent{};
    std::uint64_t stalled_seconds = 0, stalled_ratio = 0;
    StalledRatio ratio;
  };

  void report_line(Resource resource, std::string_view degree, const Stall& stall, std::uint64_t read_ns,
                   plugin::Batch& batch);
  Line& line(Resource resource, bool full);

  const LevelMetrics* metrics_;
  const Selection* selection_;
  std::uint64_t subject_;
  std::array<std::array<std::unique_ptr<Line>, 2>, kResources.size()> lines_;  // created when first known
  std::uint64_t cpu_full_supported_ = 0;
};

}  // namespace koord::psi
