// SPDX-License-Identifier: Apache-2.0
// LatestSamples: the newest samples in the metric cache, of any plugin, not older than a bound. On the instance's
// strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-sys-resource/sys_resource.hpp"

namespace koord::sys_resource {

class LatestSamples {
 public:
  LatestSamples() = default;
  explicit LatestSamples(const koord_host* host)
      : host_(host), metrics_(plugin::require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  // All questions until the next call are about the time from `from_ns` to `to_ns`.
  void set_window(std::uint64_t from_ns, std::uint64_t to_ns);

  // The newest sample of each current series of the metric, of those with this label if one is given. None if the
  // metric is not defined.
  std::vector<Sample> of(std::string_view metric, std::optional<plugin::Label> label = std::nullopt);
  // The value of the only series; nothing if none exists.
  std::optional<double> value_of(std::string_view metric, std::optional<plugin::Label> label = std::nullopt);

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::uint64_t from_ns_ = 0, to_ns_ = 0;
  std::vector<koord_agg_row> rows_;
};

}  // namespace koord::sys_resource
