// SPDX-License-Identifier: Apache-2.0
// VerdictWatch: reports verdicts that have lasted for some time to the cluster, as Events at the victims' pods.
// Functions are [loop thread].
#pragma once

#include <functional>
#include <memory>

#include "core/agentd/services.hpp"
#include "core/agentd/verdict_events.hpp"
#include "core/event/timer.hpp"

namespace koord::agentd {

class VerdictWatch {
 public:
  using RecordEvent = std::function<void(kube::EventInput)>;

  // The services must outlive this object.
  VerdictWatch(const Services& services, RecordEvent record_event);

  void start();
  void stop();

 private:
  void poll();

  const Services& services_;
  const RecordEvent record_event_;
  VerdictEvents events_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
