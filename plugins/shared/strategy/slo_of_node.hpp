// SPDX-License-Identifier: Apache-2.0
// The NodeSLO of the newest snapshot, parsed once a version. Header-only.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/shared/slo/node_slo.hpp"

namespace koord::strategy {

class SloOfNode {
 public:
  // What was not taken of a new version, or why all of it was not: each told once.
  slo::Problems follow(const plugin::Snapshot& snapshot) {
    const std::uint64_t version = snapshot.version(KOORD_ON_NODE_SLO);
    if (version == version_) return {};
    version_ = version;
    auto parsed = slo::parse_node_slo(snapshot.node_slo());
    known_ = parsed && !snapshot.node_slo().empty();
    slo_ = parsed ? std::move(parsed->slo) : slo::NodeSlo{};
    return parsed ? std::move(parsed->problems) : slo::Problems{parsed.error().message()};
  }

  // Null while there is none, or none that can be read: which is not "everything off".
  const slo::NodeSlo* get() const { return known_ ? &slo_ : nullptr; }

 private:
  std::uint64_t version_ = 0;
  bool known_ = false;
  slo::NodeSlo slo_;
};

}  // namespace koord::strategy
