// SPDX-License-Identifier: Apache-2.0
#include "core/report/cpu_manager_state.hpp"

#include <boost/json.hpp>

#include "core/report/json_text.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

constexpr const char* kFile = "cpu_manager_state";

Error wrong(const std::string& member, const std::string& what) {
  return invalid(std::string(kFile) + ": " + member + ": " + what);
}

Result<CpuSet> cpus_of(const json::object& containers, const std::string& member) {
  CpuSet all;
  for (const auto& [name, cpus] : containers) {
    if (!cpus.is_string()) return wrong(member + "." + std::string(name), "expected a list of CPUs");
    Result<CpuSet> set = CpuSet::parse(json_text(containers, {name.data(), name.size()}));
    if (!set) return wrong(member + "." + std::string(name), set.error().text);
    all = all | *set;
  }
  return all;
}

}  // namespace

Result<CpuManagerState> parse_cpu_manager_state(std::string_view text) {
  const json::object root = TRY(parse_root(text, kFile));
  CpuManagerState state;
  state.policy = json_text(root, "policyName");
  if (state.policy.empty()) return wrong("policyName", "expected a name");
  for (const auto& [uid, containers] : json_mapping(root, "entries").get_object()) {
    const std::string member = "entries." + std::string(uid);
    if (!containers.is_object()) return wrong(member, "expected containers with their CPUs");
    state.pods[std::string(uid)] = TRY(cpus_of(containers.get_object(), member));
  }
  return state;
}

}  // namespace koord::report
