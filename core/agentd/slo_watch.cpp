// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/slo_watch.hpp"

#include "core/agentd/state_log.hpp"
#include "core/state/slo.hpp"

namespace koord::agentd {
namespace {

constexpr Duration kSloPeriod = std::chrono::seconds(1);

}  // namespace

void SloWatch::start(event::Loop& loop) {
  look();
  timer_ = loop.every(kSloPeriod, [this] { look(); });
}

// A change of the received NodeSLO may leave the effective one unchanged, and then no subscriber is called.
void SloWatch::look() {
  std::shared_ptr<const std::string> received = hub_.current()->received_slo;
  if (!received || received == seen_) return;
  seen_ = std::move(received);
  const Result<state::EffectiveSlo> effective = state::effective_slo(*seen_);
  if (!effective) return;  // no source publishes such
  std::set<std::string> wrong;
  for (const state::SloProblem& problem : effective->problems) {
    std::string text = text_of(problem);
    if (!told_.contains(text))
      log::warn(state_log, "NodeSLO: {}; {}", text, problem.inactive.empty() ? "the default holds" : "inactive because of it: " + problem.inactive);
    wrong.insert(std::move(text));
  }
  if (wrong.empty() && !told_.empty()) log::info(state_log, "NodeSLO: all values are taken again");
  told_ = std::move(wrong);
}

}  // namespace koord::agentd
