// SPDX-License-Identifier: Apache-2.0
#include "core/knob/decision_log.hpp"

#include "core/base/parse.hpp"

namespace koord::knob {
namespace {

void cut(Decision& decision) {
  if (decision.reason.size() > DecisionLog::kMostText) decision.reason.resize(DecisionLog::kMostText);
  std::size_t bytes = 0;
  auto last = decision.inputs.begin();
  for (; last != decision.inputs.end(); ++last) {
    bytes += last->first.size() + last->second.size();
    if (bytes > DecisionLog::kMostText) break;
  }
  decision.inputs.erase(last, decision.inputs.end());
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::applied:
      return "applied";
    case Outcome::shadow:
      return "shadow";
    case Outcome::off:
      return "off";
    case Outcome::hands_off:
      return "hands_off";
    case Outcome::lost:
      return "lost";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::gone:
      return "gone";
    case Outcome::failed:
      return "failed";
    case Outcome::contested:
      return "contested";
    case Outcome::expired:
      return "expired";
    case Outcome::reverted:
      return "reverted";
    case Outcome::left:
      return "left";
    case Outcome::switched:
      return "switched";
  }
  return "";
}

Result<Outcome> parse_outcome(std::string_view text) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Outcome::switched); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (name_of(outcome) == text) return outcome;
    names.emplace_back(name_of(outcome));
  }
  return invalid("'" + std::string(text) + "' is no result of a decision, expected one of " + join(names, ", "));
}

void DecisionLog::add(Decision decision) {
  cut(decision);
  std::lock_guard lock(mutex_);
  ++counts_[decision.outcome];
  decision.number = ++last_number_;
  decisions_.push_back(std::move(decision));
  if (decisions_.size() > kMostRecords) decisions_.pop_front();
}

std::vector<Decision> DecisionLog::decisions() const {
  std::lock_guard lock(mutex_);
  return {decisions_.begin(), decisions_.end()};
}

std::map<Outcome, std::uint64_t> DecisionLog::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace koord::knob
