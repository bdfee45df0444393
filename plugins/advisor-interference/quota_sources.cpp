// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/quota_sources.hpp"

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

// Returns the time throttled by this cgroup's own quota. v1 counts nanoseconds, v2 microseconds.
std::uint64_t throttled_total(const cgroup::Layout& layout, const std::string& cgroup) {
  const Result<std::string> text = read_file(layout.directory(cgroup::Controller::cpu, cgroup) + "/cpu.stat");
  if (!text) return 0;
  return find_flat_key(*text, "throttled_time").value_or(find_flat_key(*text, "throttled_usec").value_or(0) * 1000);
}

}  // namespace

void QuotaSources::begin_window() {
  ++window_;
  std::erase_if(cgroups_, [this](const auto& one) { return window_ - one.second.read_in > kForgetAfter; });
}

std::uint64_t QuotaSources::throttled_in_window(std::string_view cgroup) {
  const auto [at, is_new] = cgroups_.try_emplace(std::string(cgroup));
  Throttled& throttled = at->second;
  if (is_new || throttled.read_in != window_) {
    const std::uint64_t total = throttled_total(layout_, at->first);
    throttled = {total, is_new ? total : throttled.ns, window_};
  }
  return throttled.ns > throttled.before_ns ? throttled.ns - throttled.before_ns : 0;
}

QuotaSources::Source QuotaSources::of(std::string_view cgroup) {
  const auto own = static_cast<double>(throttled_in_window(cgroup));
  Source source;
  double above = 0, most = 0;
  for (auto slash = cgroup.rfind('/'); slash != std::string_view::npos; slash = cgroup.rfind('/')) {
    cgroup = cgroup.substr(0, slash);
    const auto throttled = static_cast<double>(throttled_in_window(cgroup));
    above += throttled;
    if (throttled <= most) continue;
    most = throttled;
    source.cgroup = cgroup;
  }
  source.is_known = own + above > 0;
  if (above > 0) source.above = above / (own + above);
  return source;
}

}  // namespace koord::interference
