// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/usable_cpus.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using cgroup::Controller;
using cgroup::Layout;
using cgroup::Version;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

CpuSet cpuset_of(const Layout& layout, const std::string& cgroup) {
  const bool is_v2 = layout.version(Controller::cpuset) == Version::v2;
  const Result<std::string> text = read_file(layout.directory(Controller::cpuset, cgroup) +
                                             (is_v2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus"));
  const Result<CpuSet> cpus = text ? CpuSet::parse(trim(*text)) : Result<CpuSet>(text.error());
  return cpus ? *cpus : CpuSet();
}

std::optional<std::int64_t> number_in(const std::string& path) {
  const Result<std::string> text = read_file(path);
  const Result<std::int64_t> number = text ? parse_int(trim(*text)) : Result<std::int64_t>(text.error());
  return number ? std::optional(*number) : std::nullopt;
}

// Returns the CPUs that the cgroup's quota allows. v2 has one file with "max 100000" or "150000 100000"; v1 has two
// files, and -1 means no quota.
double cpus_of_quota(const Layout& layout, const std::string& cgroup) {
  const std::string directory = layout.directory(Controller::cpu, cgroup);
  std::optional<std::int64_t> quota, period;
  if (layout.version(Controller::cpu) == Version::v2) {
    const std::string text = read_file(directory + "/cpu.max").value_or("");
    std::string_view rest = trim(text);
    if (const auto word = next_word(rest))
      if (const auto number = parse_int(*word)) quota = *number;
    if (const auto word = next_word(rest))
      if (const auto number = parse_int(*word)) period = *number;
  } else {
    quota = number_in(directory + "/cpu.cfs_quota_us");
    period = number_in(directory + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return kUnlimited;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

UsableCpus usable_cpus(const Layout& layout, const std::string& cgroup) {
  const auto slash = cgroup.rfind('/');
  const double of_pod = slash == std::string::npos ? kUnlimited : cpus_of_quota(layout, cgroup.substr(0, slash));
  UsableCpus usable{0, cpuset_of(layout, cgroup)};
  const double of_set = usable.set.empty() ? kUnlimited : static_cast<double>(usable.set.size());
  usable.number = std::min({of_set, cpus_of_quota(layout, cgroup), of_pod});
  if (usable.number == kUnlimited) usable.number = static_cast<double>(std::thread::hardware_concurrency());
  return usable;
}

}  // namespace koord::interference
