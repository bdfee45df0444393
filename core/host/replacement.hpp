// SPDX-License-Identifier: Apache-2.0
// Replacement: one plugin takes the place of another of the same id while the agent runs. The new one is brought up
// beside the old one, without ticks; once it runs the old one ends and the ticks are the new one's. When it does not
// come up the old one goes on. Series that both have go on without a gap. [loop thread]
#pragma once

#include <functional>
#include <memory>

#include "core/event/loop.hpp"
#include "core/host/managed_plugin.hpp"
#include "core/metric/registry.hpp"

namespace koord::host {

class Replacement {
 public:
  using Done = std::function<void(const Result<void>&)>;

  // All references must outlive it. `old` may be null.
  Replacement(event::Loop& loop, metric::Registry& metrics, std::shared_ptr<ManagedPlugin> old,
              std::shared_ptr<ManagedPlugin> fresh, Done done);

  // The old one runs while the new one starts.
  bool beside() const { return beside_; }
  bool over() const { return stage_ == Stage::over; }
  const std::shared_ptr<ManagedPlugin>& old() const { return old_; }
  const std::shared_ptr<ManagedPlugin>& fresh() const { return fresh_; }

  // Advances as far as possible. Call it whenever the state of one of the two changed. True: the new plugin has
  // replaced the old one.
  bool advance();
  void give_up(const std::string& reason);

 private:
  enum class Stage { starting, handing_over, over };

  bool started();
  void finish();

  event::Loop& loop_;
  metric::Registry& metrics_;
  const std::shared_ptr<ManagedPlugin> old_, fresh_;
  const bool beside_;
  Done done_;
  Stage stage_ = Stage::starting;
  std::unique_ptr<event::Timer> patience_;  // with the end of the old one
};

}  // namespace koord::host
