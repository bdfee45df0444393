// SPDX-License-Identifier: Apache-2.0
// VerdictEvents: decides which verdicts become Events at the victim's pod, and when. A verdict is reported when it has
// lasted for a minute, and after that once an hour. A pod, resource and plugin have at most one Event in ten minutes.
// All users with read access to the pod's namespace can read an Event, so it names no pod of a different namespace.
// Pure: the time is passed in. [one thread]
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
  // The limits of the Events of one plugin within kBetween. The agent sends at most one Event in six seconds.
  static constexpr std::ptrdiff_t kMostOwn = 64, kMostThirdParty = 10;

  // Returns the Events that are due now. Verdicts about containers outside of pods have no Event.
  std::vector<kube::EventInput> due(const std::vector<verdict::RecordPtr>& standing, Time now);

 private:
  // The time of the last report of each verdict and pod, within kRepeat.
  struct OfPlugin {
    std::map<std::uint64_t, Time> verdicts;
    std::map<std::pair<std::string, verdict::Resource>, Time> pods;  // key: the pod's uid, resource
  };

  bool admit(const verdict::Record& record, const std::string& pod_uid, Time now);

  std::map<std::string, OfPlugin>
      reported_;  // key: plugin, so that verdicts of one plugin do not delay reports of other plugins
};

// Returns an Event, for example "container app is held up on cpu for 1m0s: a request finds …; caused by etl-5/main 62
// %, a pod of another namespace 20 %".
kube::EventInput event_of(const verdict::Record& record, Time now);

}  // namespace koord::agentd
