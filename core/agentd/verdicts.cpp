// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdicts.hpp"

namespace koord::agentd {
namespace {

constexpr Duration kExpiryPeriod = std::chrono::seconds(1);

}  // namespace

VerdictModule::VerdictModule(const Services& services)
    : services_(services), subscription_(services.hub.on_subject_end([this](std::uint64_t handle) {
        services_.verdicts.end_all_about(services_.clock.now(), handle, "the pod or container has ended");
      })) {}

VerdictModule::~VerdictModule() { services_.hub.remove(subscription_); }

void VerdictModule::start() {
  timer_ = services_.loop.every(kExpiryPeriod, [this] { services_.verdicts.expire(services_.clock.now()); });
}

}  // namespace koord::agentd
