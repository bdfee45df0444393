// SPDX-License-Identifier: Apache-2.0
// Outcome: the result of one intent, eviction or change of a mode. Plain values.
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::decision {

enum class Outcome {
  applied,      // the knob has this value; of a hook: the runtime has got it
  shadow,       // it would have been written
  off,          // the strategy is switched off
  hands_off,    // hands-off: by the pod's annotation or by an operator
  lost,         // another intent won
  unsupported,  // this node has no such knob
  gone,         // the cgroup has ended
  failed,       // the kernel did not take it; of a hook: it gave no answer
  contested,    // another process keeps writing another value: left alone
  expired,      // not proposed again within its ttl
  reverted,     // no intent is left: it has its original value
  left,         // no intent is left, and another program has written it since
  switched,     // no knob: a mode was changed
  // Outcomes of evictions (core/evict); shadow, gone and hands_off as above.
  evicted,     // the API server accepted the eviction
  killed,      // its containers were ended: the API server did not take it, and memory was very short
  pending,     // the pod is already terminating, or its eviction was requested
  refused,     // by the API server, or it is not asked before a while; of a hook: it refused the pod or container
  budget,      // the eviction budget of this window is spent
  brake,       // so many were picked that no pod is evicted for now
  opted_out,   // the pod does not allow evictions, or is not eligible
  unknown,     // the kubelet is unavailable, so the pod cannot be confirmed
  asked,       // the eviction was sent to the API server, which has not answered yet
  unanswered,  // it was sent, and no answer says whether it was done
};
std::string_view name_of(Outcome outcome);
// Parses such a name; an error names all.
Result<Outcome> parse_outcome(std::string_view text);

}  // namespace koord::decision
