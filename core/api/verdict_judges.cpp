// SPDX-License-Identifier: Apache-2.0
#include "core/api/verdict_judges.hpp"

#include <algorithm>

#include "core/verdict/record.hpp"

namespace koord::api {
namespace {

using service::Capability;
using service::CapabilityState;

constexpr std::string_view kVerdictPrefix = "verdict.";

// Returns why the judge reports nothing about a resource.
std::string reason_of_silence(const host::PluginStatus* judge) {
  const std::string name(kJudge);
  if (judge == nullptr) return name + " is not installed";
  if (judge->state == host::PluginState::disabled) return "the feature gate " + judge->gate + " is off";
  if (judge->state == host::PluginState::running) return name + " does not judge it";
  const std::string state = name + " is " + std::string(to_string(judge->state));
  return judge->reason.empty() ? state : state + ": " + judge->reason;
}

}  // namespace

const host::PluginStatus* judge_of(const std::vector<host::PluginStatus>& plugins) {
  const auto found =
      std::find_if(plugins.begin(), plugins.end(), [](const host::PluginStatus& one) { return one.id == kJudge; });
  return found == plugins.end() ? nullptr : &*found;
}

bool is_verdict_capability(std::string_view name) {
  return name.starts_with(kVerdictPrefix) && verdict::resource_named(name.substr(kVerdictPrefix.size()));
}

std::string_view method_of(std::string_view detail) {
  for (const verdict::Method method : {verdict::Method::exact, verdict::Method::estimated, verdict::Method::suspected})
    if (detail.starts_with(name_of(method)) && detail.substr(name_of(method).size()).starts_with(": "))
      return name_of(method);
  return {};
}

std::vector<Capability> verdict_capabilities(const std::vector<Capability>& reported,
                                             const std::vector<host::PluginStatus>& plugins) {
  std::vector<Capability> all;
  const std::string silence = reason_of_silence(judge_of(plugins));
  for (const verdict::Resource resource : verdict::kResources) {
    const std::string name = std::string(kVerdictPrefix) + std::string(name_of(resource));
    const auto found =
        std::find_if(reported.begin(), reported.end(), [&](const Capability& one) { return one.name == name; });
    all.push_back(found == reported.end() ? Capability{name, CapabilityState::absent, silence, {}} : *found);
  }
  return all;
}

}  // namespace koord::api
