// SPDX-License-Identifier: Apache-2.0
// Request: a strategy's request when too much is used or lent: to end pods until so much of a resource is released; the
// host's own copy of koord_eviction. RequestSink takes the requests of one evaluate(): evictions.hpp decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/decision/proposer.hpp"

namespace koord::evict {

struct Request {
  std::vector<std::uint64_t> pods;  // handles of state::Pod, the first to go first
  std::string resource;             // see parse_release()
  std::string reason;
  std::int64_t amount = 0;  // how much to release: milli-cores for kinds of CPU, bytes for kinds of memory
  std::vector<std::pair<std::string, std::string>> inputs;  // values that the decision used

  bool operator==(const Request&) const = default;
};

// The resource that the end of a pod releases: its usage ("cpu", "memory"), or its request ("cpu.request";
// "kubernetes.io/batch-cpu.request", and without the ending, too: no usage has that name).
struct Release {
  bool used = true;
  std::string resource;  // without the ending

  auto operator<=>(const Release&) const = default;
};
Result<Release> parse_release(std::string_view text);

// Returns the name by which pods allow or refuse this request: the input "feature", else the plugin's id.
std::string_view feature_of(const Request& request, std::string_view plugin);

// [any thread]
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  virtual void take(const decision::Proposer& proposer, std::vector<Request> requests) = 0;
};

}  // namespace koord::evict
