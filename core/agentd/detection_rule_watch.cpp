// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/detection_rule_watch.hpp"

#include <map>
#include <span>
#include <utility>

#include "core/agentd/state_log.hpp"
#include "core/api/verdict_judges.hpp"
#include "core/state/pod_intake.hpp"

namespace koord::agentd {
namespace {

using service::Capability;
using service::CapabilityState;

constexpr Duration kRulePoll = std::chrono::seconds(1);
constexpr const char* kRulesPath = "/apis/interference.koordinator.sh/v1alpha1/interferencedetectionrules";
constexpr kube::ObjectSet::Limits kRuleLimits{.objects = 200, .bytes = 1u << 20};
constexpr const char* kCapability = "interferencedetectionrule";

bool is_judging(const std::vector<host::PluginStatus>& plugins) {
  const host::PluginStatus* judge = api::judge_of(plugins);
  return judge != nullptr && judge->state != host::PluginState::disabled;
}

std::string text_in(const store::Store& store) {
  const auto bytes = store.get(analysis::kRuleLayersKey);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
}

}  // namespace

void DetectionRuleWatch::start(bool has_cluster) {
  if (!has_cluster) return services_.store.erase(analysis::kRuleLayersKey);
  kept_ = text_in(services_.store);
  rules_ = state::DetectionRules(analysis::read_rule_layers(kept_).layers);
  timer_ = services_.loop.every(kRulePoll, [this] { poll(); });
}

void DetectionRuleWatch::stop() {
  timer_.reset();
  watch_.reset();
}

// Polls, because the node's labels may change and the plugin may be switched on or off.
void DetectionRuleWatch::poll() {
  kube::Client* client = services_.client();
  if (client == nullptr) return;
  const bool is_wanted = is_judging(services_.plugins());
  if (is_wanted && !watch_) begin(*client);
  if (!is_wanted && watch_) {
    watch_.reset();
    services_.capabilities.set({{kCapability, CapabilityState::absent, "nothing judges by it", ""}});
  }
  const state::StringMap& labels = services_.hub.current()->node.labels;
  if (!watch_ || labels == labels_) return;
  labels_ = labels;
  keep();
}

void DetectionRuleWatch::begin(kube::Client& client) {
  kube::ListWatchOptions options;
  options.limits = kRuleLimits;
  kube::ListWatchHandlers handlers;
  handlers.on_objects = [this](const kube::Objects& objects, const kube::Difference&) { take(objects); };
  handlers.on_health = [this](const kube::Health&) { report(); };
  watch_ =
      std::make_unique<kube::ListWatch>(services_.loop, services_.workers, services_.clock, client,
                                        kube::Collection{.path = kRulesPath}, std::move(options), std::move(handlers));
}

void DetectionRuleWatch::take(const kube::Objects& objects) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, object] : objects) texts.emplace(key, object->text);
  problems_ = rules_.take(texts);
  for (const std::string& problem : logged_.begun(problems_)) log::warn(state_log, "{}", problem);
  is_known_ = true;
  keep();
  report();
}

void DetectionRuleWatch::keep() {
  if (!is_known_) return;
  std::string text = analysis::write_rule_layers(rules_.layers_for(services_.hub.current()->node.labels));
  if (text == kept_) return;
  if (auto put = services_.store.put(analysis::kRuleLayersKey, std::as_bytes(std::span(text))); !put)
    return log::warn(state_log, "rules of the cluster are not passed on: {}", put.error().message());
  kept_ = std::move(text);
}

void DetectionRuleWatch::report() {
  if (!watch_) return;
  const kube::Health& health = watch_->health();
  Capability capability{kCapability, CapabilityState::broken, std::string(name_of(health.state)), ""};
  std::string problem = health.problem.empty() ? health.left_out : health.problem;
  if (problem.empty()) problem = state::first_problems(problems_);
  using State = kube::Health::State;
  if (health.state == State::absent || health.state == State::starting) capability.state = CapabilityState::absent;
  if (health.state == State::current && problem.empty()) {
    capability.state = CapabilityState::supported;
    problem = std::to_string(rules_.size()) + (rules_.size() == 1 ? " object" : " objects");
  }
  if (!problem.empty()) capability.detail += ": " + problem;
  services_.capabilities.set({std::move(capability)});
}

}  // namespace koord::agentd
