// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/effects.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "test/hostile/agent_view.hpp"

namespace koord::hostile {
namespace {

using test::AgentProcess;

constexpr std::ptrdiff_t kMostLines = 5000;  // maximum for one log

// Attacks that must cause this text in the log, after the plugin's id.
constexpr std::pair<std::string_view, std::string_view> kRefusals[] = {
    {"squat_capability", "capability 'bpf' is not one of"},
    {"foreign_knobs", "intent for knob"},
    {"fs_environ", "'proc/self/environ' is never read for a plugin"},
    {"squat_host", "metric 'host_series': this name is reserved for the host's own metrics"},
    {"squat_metric", "metric 'pod_cpu_usage' is reserved"}};

// Attacks that must be ended for this reason.
constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
    {"state_files", "its state directory has more than 2048 KiB (maxState)"},
    {"state_links", "its state directory has more than 2048 KiB (maxState)"},
    {"state_unnamed", "its state directory has more than 2048 KiB (maxState)"},
    {"state_deep", "its state directory cannot be measured (maxState): directories nested deeper than 32"}};

// An attack that succeeded if the answer to this request contains this text.
struct Effect {
  std::string_view attack;
  const char* request;
  std::string_view text, complaint;
};
constexpr Effect kEffects[] = {
    {"foreign_series", "/api/v1/query?raw=true&metric=bystander_ticks", ",1E9", "it appended to another's series"},
    {"verdict_claims", "/api/v1/interference?state=any", "\"origin\":\"own\"", "its verdict passes as the node's own"},
    {"verdict_claims", "/api/v1/interference?state=any", "\\u001", "a control character is in a verdict"},
    {"verdict_claims", "/api/v1/interference?state=any", "xxxxxxxx", "a text that is too long is in a verdict"},
    {"evictions", "/api/v1/decisions?kind=eviction", "\"result\":\"evicted\"", "it evicted a pod"},
    {"evictions", "/api/v1/decisions?kind=eviction", "\"result\":\"killed\"", "it killed a pod"},
    {"foreign_knobs", "/api/v1/decisions", "\"result\":\"applied\"", "the agent wrote a knob for it"}};

void add_effects_on_log(const std::string& log, std::vector<std::string>& complaints) {
  const auto lines = std::count(log.begin(), log.end(), '\n');
  if (lines > kMostLines) complaints.push_back(std::to_string(lines) + " lines are in the log");
  if (!contains(log, "left out") && !contains(log, "suppressed") && !contains(log, "dropped"))
    complaints.emplace_back("the log does not say that lines are left out");
  if (contains(log, "\n2026 ERROR agent")) complaints.emplace_back("it forged a line of the log");
}

}  // namespace

std::vector<std::string> effects_of(const Attack& attack, const AgentProcess& agent, Rights rights) {
  std::vector<std::string> complaints;
  const std::string log = agent.log();
  if (attack.name == "stdout_flood" || attack.name == "log_flood") add_effects_on_log(log, complaints);
  for (const auto& [name, refusal] : kRefusals)
    if (attack.name == name && !contains(log, attack.id() + ": " + std::string(refusal)))
      complaints.push_back("no line of the log says '" + std::string(refusal) + "'");
  for (const auto& [name, reason] : kEnds)
    if (attack.name == name && !contains(log, attack.id() + " is failed: " + std::string(reason)) &&
        lacking_layer(rights) != "uid" && !(name == "state_unnamed" && rights == Rights::chart))
      complaints.push_back("no line of the log says '" + std::string(reason) + "'");
  if (attack.name == "squat_kv" && contains(log, "com.bystander: another plugin has changed its key"))
    complaints.emplace_back("it changed a key of another plugin");
  if (attack.name == "verdict_claims" && !contains(answer_of(agent, attack.name), " good=0"))
    complaints.emplace_back("its good verdict was not taken, so the wrong ones were not tried on a known container");
  for (const Effect& effect : kEffects) {
    if (attack.name != effect.attack) continue;
    const std::string answer = agent.get(effect.request);
    if (answer.empty()) complaints.push_back(std::string("no answer to ") + effect.request);
    if (contains(answer, effect.text)) complaints.emplace_back(effect.complaint);
  }
  return complaints;
}

std::vector<std::string> effects_on_stop(const Attack& attack, const std::string& log) {
  std::vector<std::string> complaints;
  if (attack.name != "ignore_stop") return complaints;
  if (!contains(log, attack.id() + " has not ended within 2s of the stop"))
    complaints.emplace_back("no line says that it was killed");
  if (contains(log, "a plugin did not end in time")) complaints.emplace_back("the agent did not end in order");
  return complaints;
}

bool is_harmless_step(Rights rights, const Attack& attack, std::string_view step) {
  struct Harmless {
    Rights rights;
    std::string_view attack, step;
  };
  static constexpr Harmless kHarmless[] = {
      {Rights::without_landlock, "shared_folders", "tmp=DONE"},
      {Rights::without_landlock, "shared_folders", "shm=DONE"},
      {Rights::without_setuid, "become_root", "root=DONE"},    // it is root, but has no capability
      {Rights::without_setuid, "memory_of_agent", "fd=DONE"},  // it can list descriptor numbers
  };
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const Harmless& one) {
    return one.rights == rights && one.attack == attack.name && one.step == step;
  });
}

bool is_flood_named(const Attack& attack) {
  return attack.name != "plans" && attack.name != "verdict_lists" && !attack.name.ends_with("_bomb");
}

bool is_noticed_by_agent(const Attack& attack, std::string_view answer) {
  return answer.find("=DENIED") != std::string_view::npos || attack.name == "squat_host" ||
         attack.name == "hook_late" || attack.name == "foreign_endpoint" || attack.name == "foreign_knobs";
}

}  // namespace koord::hostile
