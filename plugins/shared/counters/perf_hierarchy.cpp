// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/perf_hierarchy.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::performance {
namespace {

bool is_v2(const std::string& tree) { return ::access((tree + "/cgroup.controllers").c_str(), F_OK) == 0; }

bool names_perf_event(const std::string& directory) {
  const std::vector<std::string> controllers = split(directory, ',');
  return std::find(controllers.begin(), controllers.end(), "perf_event") != controllers.end();
}

}  // namespace

Result<std::string> find_perf_hierarchy(const std::string& cgroup_root) {
  if (is_v2(cgroup_root)) return cgroup_root;
  const std::vector<std::string> trees = TRY(list_subdirectories(cgroup_root));
  const auto v1 = std::find_if(trees.begin(), trees.end(), names_perf_event);
  if (v1 != trees.end()) return cgroup_root + "/" + *v1;
  if (is_v2(cgroup_root + "/unified")) return cgroup_root + "/unified";
  return not_found("neither a hierarchy with perf_event nor a unified one is mounted at '" + cgroup_root + "'");
}

}  // namespace koord::performance
