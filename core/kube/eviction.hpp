// SPDX-License-Identifier: Apache-2.0
// Eviction by the API server: it checks the disruption budgets and deletes the pod. The version of the request is what
// the server says of the sub-resource pods/eviction: policy/v1 since Kubernetes 1.22, policy/v1beta1 before. The UID is
// a precondition, so that a new pod under the old name is left alone. Requests and answers; evictor.hpp sends them.
// [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/kube/client.hpp"

namespace koord::kube {

// From the answers to /apis/policy (an APIGroup) and /api/v1 (an APIResourceList): "policy/v1" or "policy/v1beta1",
// nullopt: this server evicts nothing.
Result<std::optional<std::string>> find_eviction_version(std::string_view group, std::string_view resources);

struct PodToEvict {
  std::string name_space;
  std::string name;
  std::string uid;
  std::optional<std::int64_t> grace_seconds = std::nullopt;  // else what the pod says
  bool dry_run = false;                                      // the server checks all and does nothing
};

Call eviction_call(const std::string& version, const PodToEvict& pod);

struct EvictionAnswer {
  enum class Outcome : std::uint8_t {
    evicted,       // the pod is being deleted
    over_budget,   // a disruption budget does not allow it now
    busy,          // the API server is too busy (429, and 503 in its own words)
    gone,          // there is no such pod, or another one has its name
    conflict,      // the pod or its budget is being changed at this moment
    unauthorized,  // 401: the server does not accept the agent's credentials
    forbidden,     // 403: the agent lacks a right
    redirected,    // 3xx: another server is meant; redirects are not followed
    unsupported,   // this server evicts nothing
    // The request was sent, and nothing says whether it was done: no answer; a 5xx that may follow a deletion, such as
    // a timeout of etcd (500) or an answer of a proxy (502, 503, 504); a 2xx that does not say that this pod is being
    // deleted.
    unanswered,
    refused,  // else; of 500 only two budgets for one pod
  };

  Outcome outcome = Outcome::refused;
  std::string message;  // the server's message; empty when evicted
  std::optional<Duration> retry_after = std::nullopt;
};

std::string_view name_of(EvictionAnswer::Outcome outcome);  // "over budget"
// The answer is about the agent's access to the server: every eviction gets it, whichever pod it is for.
bool concerns_agent(EvictionAnswer::Outcome outcome);
// `pod`: the name of the pod that the request was about; empty: any. `right`: the right that the request needs.
EvictionAnswer classify_eviction(const Reply& reply, std::string_view pod = {},
                                 std::string_view right = "create pods/eviction");

}  // namespace koord::kube
