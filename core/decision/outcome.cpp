// SPDX-License-Identifier: Apache-2.0
#include "core/decision/outcome.hpp"

#include <string>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::decision {

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
    case Outcome::evicted:
      return "evicted";
    case Outcome::killed:
      return "killed";
    case Outcome::pending:
      return "pending";
    case Outcome::refused:
      return "refused";
    case Outcome::budget:
      return "budget";
    case Outcome::brake:
      return "brake";
    case Outcome::opted_out:
      return "opted_out";
    case Outcome::unknown:
      return "unknown";
    case Outcome::asked:
      return "asked";
    case Outcome::unanswered:
      return "unanswered";
  }
  return "";
}

Result<Outcome> parse_outcome(std::string_view text) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Outcome::unanswered); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (name_of(outcome) == text) return outcome;
    names.emplace_back(name_of(outcome));
  }
  return invalid("'" + std::string(text) + "' is not a result of a decision, expected one of " + join(names, ", "));
}

}  // namespace koord::decision
