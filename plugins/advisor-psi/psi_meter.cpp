// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-psi/psi_meter.hpp"

namespace koord::psi {
namespace {

// Missing pressure files are opened again after this time. On a hybrid node the runtime creates a container's
// directories one tree after the other, so an early attempt finds no pressure file.
constexpr std::uint64_t kRecheckNs = 60'000'000'000;

}  // namespace

CgroupMeter::CgroupMeter(PressureSeries series)
    : series_(std::move(series)),
      files_{values_of(Resource::cpu), values_of(Resource::memory), values_of(Resource::io)} {}

void CgroupMeter::measure(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                          std::uint64_t now_ns, plugin::Batch& batch) {
  recheck(now_ns);
  for (Resource resource : kResources) {
    Values& file = files_[static_cast<std::size_t>(resource)];
    if (auto reading = file.read(host, cgroup, dir, now_ns)) {
      series_.report(resource, pressure_of(reading->values), reading->read_ns, batch);
      found_ = CgroupPressure::supported;
    } else if (file.unsupported() && found_ == CgroupPressure::unknown) {
      found_ = CgroupPressure::absent;
    }
  }
}

void CgroupMeter::recheck(std::uint64_t now_ns) {
  if (now_ns < recheck_at_ns_) return;
  for (Resource resource : kResources) {
    Values& file = files_[static_cast<std::size_t>(resource)];
    if (!file.unsupported()) continue;
    file = values_of(resource);
    recheck_at_ns_ = now_ns + kRecheckNs;
  }
}

}  // namespace koord::psi
