// SPDX-License-Identifier: Apache-2.0
// The strategies that an invalid value of the NodeSLO has made inactive. Strategies that suppress, evict, raise quotas
// or split caches never act on a default in the place of an invalid value. The effective NodeSLO names them, with the
// reason, in a member of its own, so that a plugin knows why it is inactive. For the slo_* files of this folder only.
// Pure. [any thread]
#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/slo.hpp"
#include "core/state/slo_schema.hpp"

namespace koord::state {

// The member of the effective spec: {"CPUBurst": "cpuBurstStrategy.cfsQuotaBurstPercent: found 90, expected …"}.
inline constexpr std::string_view kInactiveMember = "koordetector.sh/inactiveStrategies";

// The strategies that use this field: names of feature gates, in a class's section with it: "RdtResctrl/beClass".
std::vector<std::string> strategies_of(const SloField& field, SloProfile profile);

class InactiveStrategies {
 public:
  InactiveStrategies() = default;
  // Those that a spec names already; whatever is not text there does not count.
  explicit InactiveStrategies(const boost::json::value& spec);

  // The first reason stays. Fills `problem.inactive`.
  void add(const std::vector<std::string>& strategies, SloProblem& problem);

  // Whether the field has strategies, and all of them are inactive.
  bool cover(const SloField& field, SloProfile profile) const;
  // "BEMemoryEvict is inactive: …", for those of its strategies that are; empty: none.
  std::string reasons(const SloField& field, SloProfile profile) const;

  // Whether this strategy is inactive as a whole, not only for a class.
  bool has(std::string_view strategy) const { return reasons_.contains(strategy); }
  // "RdtResctrl/beClass is inactive: …", for this strategy and its classes; empty: none is inactive.
  std::string reasons_of(std::string_view strategy) const;

  void write(boost::json::object& spec) const;

 private:
  std::map<std::string, std::string, std::less<>> reasons_;  // by strategy
};

}  // namespace koord::state
