// SPDX-License-Identifier: Apache-2.0
// The NodeSLO of the newest snapshot, parsed once for each version. Header-only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/shared/slo/node_slo.hpp"

namespace koord::strategy {

class SloOfNode {
 public:
  // Grace time: after the source has delivered other parts, the NodeSLO may arrive this much later before it is
  // reported as missing.
  static constexpr std::uint64_t kPatienceNs = 10'000'000'000;

  // Parses a new version. Returns its rejected fields, or why the whole text was rejected; each is returned once.
  slo::Problems follow(const plugin::Snapshot& snapshot) {
    is_synced_ = snapshot.version(KOORD_ON_PODS) != 0 || snapshot.version(KOORD_ON_NODE) != 0;
    const std::uint64_t version = snapshot.version(KOORD_ON_NODE_SLO);
    if (version == version_) return {};
    version_ = version;
    auto parsed = slo::parse_node_slo(snapshot.node_slo());
    known_ = parsed && !snapshot.node_slo().empty();
    slo_ = parsed ? std::move(parsed->slo) : slo::NodeSlo{};
    return parsed ? std::move(parsed->problems) : slo::Problems{parsed.error().message()};
  }

  // Returns a line for the log if the NodeSLO is still missing kPatienceNs after the source has delivered something
  // else, and a line when it arrives after that. Returns "" if nothing is new. Call it once in each round, after
  // follow().
  std::string new_line(std::uint64_t now_ns) {
    if (known_) {
      since_ns_.reset();
      return std::exchange(is_waiting_, false) ? "the NodeSLO has come" : "";
    }
    if (!is_synced_ || is_waiting_) return "";
    if (!since_ns_) since_ns_ = now_ns;
    if (now_ns - *since_ns_ < kPatienceNs) return "";
    is_waiting_ = true;
    return "waiting for the NodeSLO: this node has none";
  }

  // Returns null while the NodeSLO is missing or unreadable, which does not mean "everything off".
  const slo::NodeSlo* get() const { return known_ ? &slo_ : nullptr; }

 private:
  std::uint64_t version_ = 0;
  bool known_ = false, is_synced_ = false, is_waiting_ = false;
  std::optional<std::uint64_t> since_ns_;  // begin of the time in which other parts are known but the NodeSLO is not
  slo::NodeSlo slo_;
};

}  // namespace koord::strategy
