// SPDX-License-Identifier: Apache-2.0
#include "core/service/intent_results.hpp"

#include "core/service/arguments.hpp"

namespace koord::service {

koord_status status_of(decision::Outcome outcome) {
  switch (outcome) {
    case decision::Outcome::applied:
      return KOORD_OK;
    case decision::Outcome::lost:
      return KOORD_E_AGAIN;
    case decision::Outcome::shadow:
    case decision::Outcome::off:
    case decision::Outcome::hands_off:
      return KOORD_E_DENIED;
    case decision::Outcome::unsupported:
      return KOORD_E_UNSUPPORTED;
    case decision::Outcome::gone:
      return KOORD_E_GONE;
    case decision::Outcome::expired:
      return KOORD_E_DEADLINE;
    default:
      return KOORD_E_IO;
  }
}

std::optional<std::string> refusal_of(const knob::IntentResult& result) {
  const std::string because = result.problem.empty() ? std::string() : ": " + result.problem;
  const std::string knob = " for knob '" + result.knob + "'";
  switch (result.outcome) {
    case decision::Outcome::unsupported:
      return "intents" + knob + " are not applied, this node does not support it" + because;
    case decision::Outcome::failed:
      return "intent" + knob + " of cgroup '" + result.cgroup_dir + "' is not applied, the write failed" + because;
    case decision::Outcome::contested:
      return "intent" + knob + " of cgroup '" + result.cgroup_dir + "' is not applied, another program writes it" +
             because;
    default:
      return std::nullopt;
  }
}

std::vector<koord_intent_result> records_of(const std::vector<knob::IntentResult>& results) {
  std::vector<koord_intent_result> records;
  records.reserve(results.size());
  for (const knob::IntentResult& result : results) {
    records.push_back({.struct_size = sizeof(koord_intent_result),
                       .status = status_of(result.outcome),
                       .knob = to_abi(result.knob),
                       .cgroup_dir = to_abi(result.cgroup_dir),
                       .final_value = to_abi(result.final_value),
                       .winner = to_abi(result.winner)});
  }
  return records;
}

}  // namespace koord::service
