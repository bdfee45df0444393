// SPDX-License-Identifier: Apache-2.0
// ClassInfo: one class of a plugin, as its tables describe it. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.hpp"

namespace koord::load {

// The properties of one class of a plugin, in plain values.
struct ClassInfo {
  std::string kind;  // "koord.advisor/1" …
  std::string name;
  std::string config_schema;  // JSON Schema; empty: anything goes
  Duration period{};          // between ticks; zero: no ticks
  std::uint32_t stages = 0;   // KOORD_STAGE_* of a runtime hook
  bool ticks = false;         // has collect() or evaluate()
  bool runs = false;          // has run()
  bool takes_events = false;  // has on_event()
  bool maps_metrics = false;  // has map_metric()
  bool maps_samples = false;  // has map_sample()
  bool maps_series = false;   // has map_series()
  bool has_targets = false;   // has targets(), and is asked that in place of url()

  bool is_advisor() const { return kind == "koord.advisor/1" || is_scraped_for(); }
  // The host scrapes for it, each period.
  bool is_scraped_for() const { return kind == "koord.external-advisor/1"; }
};

}  // namespace koord::load
