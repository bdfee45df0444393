// SPDX-License-Identifier: Apache-2.0
// CgroupMeter: the pressure files of a cgroup and their series. Used on the plugin's strand.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-psi/psi.hpp"
#include "plugins/advisor-psi/psi_series.hpp"

namespace koord::psi {

// Whether this kernel has pressure files for cgroups, according to the reads so far.
enum class CgroupPressure { unknown, absent, supported };

class CgroupMeter {
 public:
  explicit CgroupMeter(PressureSeries series);

  // Throws Failure if a file exists but cannot be read. Values that were read before are in the batch.
  void measure(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir, std::uint64_t now_ns,
               plugin::Batch& batch);

  CgroupPressure found() const { return found_; }

 private:
  using Values = plugin::CgroupValues<kKeys.size()>;

  static Values values_of(Resource resource) { return {file_of(resource), kKeys}; }
  void recheck(std::uint64_t now_ns);

  PressureSeries series_;
  std::array<Values, kResources.size()> files_;
  std::uint64_t recheck_at_ns_ = 0;
  CgroupPressure found_ = CgroupPressure::unknown;
};

}  // namespace koord::psi
