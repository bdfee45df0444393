// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/gates.hpp"

namespace koord::agentd {
namespace {

void apply_each(const config::GateMap& settings, std::string_view origin, config::FeatureGates& gates,
                std::vector<std::string>& problems) {
  for (const auto& setting : settings) {
    if (auto applied = gates.apply(config::GateMap{setting}, origin); !applied)
      problems.push_back(applied.error().message());
  }
}

}  // namespace

std::vector<std::string> apply_gates(const config::GateMap& of_file, const std::string& of_command_line,
                                     config::FeatureGates& gates) {
  std::vector<std::string> problems;
  apply_each(of_file, "featureGates", gates, problems);
  if (auto flags = config::parse_gates(of_command_line))
    apply_each(*flags, "--feature-gates", gates, problems);
  else
    problems.push_back("--feature-gates: " + flags.error().message());
  return problems;
}

}  // namespace koord::agentd
