// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-be-resource/best_effort_class.hpp"

#include "core/base/parse.hpp"

namespace koord::be_resource {
namespace {

// Returns the possible paths of the file: on v1, on v2, and in the v2 tree of a hybrid node.
std::vector<std::string> files_of(std::string_view dir) {
  const std::string cgroup(dir);
  return {"cpuset/" + cgroup + "/cpuset.effective_cpus", cgroup + "/cpuset.cpus.effective",
          "unified/" + cgroup + "/cpuset.cpus.effective"};
}

std::optional<std::string> read_if_there(const plugin::Files& files, const std::string& relative) {
  try {
    return files.read(KOORD_ROOT_CGROUP, relative);
  } catch (const plugin::Failure& failure) {
    if (failure.status() == KOORD_E_NOT_FOUND || failure.status() == KOORD_E_GONE) return std::nullopt;
    throw;
  }
}

}  // namespace

std::optional<CpuSet> effective_cpus(const plugin::Files& files, std::string_view cgroup_dir) {
  for (const std::string& relative : files_of(cgroup_dir)) {
    const std::optional<std::string> text = read_if_there(files, relative);
    if (!text) continue;
    Result<CpuSet> cpus = CpuSet::parse(trim(*text));
    if (!cpus) throw plugin::Failure(KOORD_E_IO, "'" + relative + "': " + cpus.error().message());
    return *std::move(cpus);
  }
  return std::nullopt;
}

std::optional<double> BestEffortClass::usage_milli(const koord_host* host, const koord_svc_cgroup* cgroup,
                                                   std::uint64_t now_ns) {
  const auto reading = usage_.read(host, cgroup, dir_, now_ns);
  there_ = reading.has_value();
  if (!reading) return std::nullopt;
  const std::optional<double> cores = rate_.update({reading->values[0], reading->read_ns});
  return cores ? std::optional(*cores * 1000) : std::nullopt;
}

std::optional<CpuMax> BestEffortClass::max(const koord_host* host, const koord_svc_cgroup* cgroup,
                                           std::uint64_t now_ns) {
  const auto reading = max_.read(host, cgroup, dir_, now_ns);
  if (!reading || reading->values[0] == KOORD_ABSENT || reading->values[1] == KOORD_ABSENT) return std::nullopt;
  return CpuMax{reading->values[0], reading->values[1]};
}

}  // namespace koord::be_resource
