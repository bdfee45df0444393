// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/slo_watch.hpp"

#include <string>
#include <vector>

#include "core/agentd/state_log.hpp"
#include "core/state/slo.hpp"

namespace koord::agentd {
namespace {

constexpr Duration kSloPeriod = std::chrono::seconds(1);

}  // namespace

void SloWatch::start(event::Loop& loop) {
  poll();
  timer_ = loop.every(kSloPeriod, [this] { poll(); });
}

// Polls the received NodeSLO. Subscribers are called only for changes of the effective NodeSLO.
void SloWatch::poll() {
  std::shared_ptr<const std::string> received = hub_.current()->received_slo;
  if (!received || received == seen_) return;
  seen_ = std::move(received);
  const Result<state::EffectiveSlo> effective = state::effective_slo(*seen_);
  if (!effective) return;  // no source publishes an invalid NodeSLO
  std::vector<std::string> problems;
  for (const state::SloProblem& problem : effective->problems)
    problems.push_back(
        text_of(problem) + "; " +
        (problem.inactive.empty() ? "the default holds" : "inactive because of it: " + problem.inactive));
  const bool was_wrong = !problems_.empty();
  for (const std::string& problem : problems_.begun(problems)) log::warn(state_log, "NodeSLO: {}", problem);
  if (was_wrong && problems.empty()) log::info(state_log, "NodeSLO: all values are taken again");
}

}  // namespace koord::agentd
