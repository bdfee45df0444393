// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/configuration.hpp"

#include <algorithm>

namespace koord::hostile {
namespace {

std::string settings_of_one(const Attack& attack, std::string_view deadline, const Words& words) {
  std::string text = "    " + attack.id() + ":\n      period: 100ms\n      deadline: " + std::string(deadline) +
                     "\n      maxMemory: 64Mi\n      maxThreads: 32\n      maxSeries: 1000\n      maxCpu: 300m\n";
  if (attack.kind == "disk") text += "      maxState: 2Mi\n";
  if (attack.is_strategy() || attack.is_hook()) text += "      mode: enforce\n";
  // These attacks need a grant, because one opens a lingering socket, and others have an endpoint to scrape.
  if (attack.name == "lingering_descriptor" || attack.is_scraped()) text += "      network: [tcp]\n";
  text += "      config:\n        text: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"\n";
  for (const auto& [key, value] : words) text += "        " + key + ": \"" + value + "\"\n";
  return text;
}

bool has_hook(std::span<const Attack* const> attacks) {
  return std::any_of(attacks.begin(), attacks.end(), [](const Attack* attack) { return attack->is_hook(); });
}

}  // namespace

std::string settings_of(std::span<const Attack* const> attacks, std::string_view deadline, const Words& words) {
  std::string text = "    com.bystander: {period: 100ms, deadline: " + std::string(deadline) + "}\n";
  if (has_hook(attacks)) text += "    com.neighbour: {mode: enforce, deadline: 10s}\n";
  for (const Attack* attack : attacks) {
    const bool must_end_soon = attack->batch == Batch::end;
    text += settings_of_one(*attack, must_end_soon ? "500ms" : deadline, words);
  }
  return text;
}

std::string gates_of(std::span<const Attack* const> attacks) {
  std::string gates = "  Bystander: true\n";
  if (has_hook(attacks)) gates += "  Neighbour: true\n";
  for (const Attack* attack : attacks)
    if (attack->name != "manifest_default" && attack->name != "steal_gate") gates += "  " + attack->gate() + ": true\n";
  return gates;
}

}  // namespace koord::hostile
