// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdict_watch.hpp"

#include <utility>

#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category verdict_log{"verdict"};
constexpr Duration kVerdictPoll = std::chrono::seconds(1);

}  // namespace

VerdictWatch::VerdictWatch(const Services& services, RecordEvent record_event)
    : services_(services), record_event_(std::move(record_event)) {}

void VerdictWatch::start() {
  timer_ = services_.loop.every(kVerdictPoll, [this] { poll(); });
}

void VerdictWatch::stop() { timer_.reset(); }

void VerdictWatch::poll() {
  for (kube::EventInput& event : events_.due(services_.verdicts.standing()->records, services_.clock.now())) {
    log::info(verdict_log, "pod {}/{}: {}", event.about.name_space, event.about.name, event.message);
    record_event_(std::move(event));
  }
}

}  // namespace koord::agentd
