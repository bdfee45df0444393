// SPDX-License-Identifier: Apache-2.0
// A snapshot of the state with records in lent memory, in place of a real one. One trial lends all or none, so the
// reading functions know which kind they get. [any thread] except for one and the same snapshot.
#pragma once

#include "core/workshop/check/fault_injection.hpp"
#include "koordetector/plugin.h"

namespace koord::check {

struct LentSnapshot {
  static const koord_snapshot* lend(const koord_snapshot* real, Lending terms);
  // The real one, to be released.
  static const koord_snapshot* take_back(const koord_snapshot* lent);
};

// koord.state/1 for lent snapshots; acquire, release and subscribe are those of the real one.
extern const koord_svc_state lent_state_service;

}  // namespace koord::check
