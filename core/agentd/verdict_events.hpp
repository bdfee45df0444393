// SPDX-License-Identifier: Apache-2.0
// VerdictEvents: which verdicts become Events at the victim's pod, and when: those that have stood
// for a minute, again each hour while they stand, and at most one in ten minutes for a pod, resource and plugin. An
// Event is readable for everyone who may read the pod's namespace, so it names no pod of another namespace. Pure: the
// time is passed in. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/kube/event_aggregator.hpp"
#include "core/verdict/store.hpp"

namespace koord::agentd {

class VerdictEvents {
 public:
  static constexpr Duration kStands = std::chrono::minutes(1);
  static constexpr Duration kBetween = std::chrono::minutes(10);
  static constexpr Duration kRepeat = std::chrono::hours(1);
  // The Events of one plugin in kBetween. All Events of the agent leave at one in six seconds.
  static constexpr std::ptrdiff_t kMostOwn = 64, kMostThirdParty = 10;

  // The Events that are due now. Verdicts about containers outside of pods have none.
  std::vector<kube::EventInput> due(const std::vector<verdict::RecordPtr>& standing, Time now);

 private:
  // When each was last reported, within kRepeat.
  struct OfPlugin {
    std::map<std::uint64_t, Time> verdicts;
    std::map<std::pair<std::string, verdict::Resource>, Time> pods;  // by the pod's uid
  };

  bool admit(const verdict::Record& record, const std::string& pod_uid, Time now);

  std::map<std::string, OfPlugin>
      reported_;  // by plugin: verdicts of one do not keep those of others from being reported
};

// "container app is held up on cpu for 1m0s: a request finds …; caused by etl-5/main 62 %, a pod of another namespace
// 20 %"
kube::EventInput event_of(const verdict::Record& record, Time now);

}  // namespace koord::agentd
