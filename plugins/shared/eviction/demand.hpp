// SPDX-License-Identifier: Apache-2.0
// Amounts that a feature has to release, the pods to evict for it, in order, and the combination of several demands of
// one round. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/shared/eviction/candidate.hpp"

namespace koord::eviction {

// The amount that an eviction releases: a pod's current usage, or its request.
enum class Kind : std::uint8_t { used, requested };

struct Released {
  Kind kind = Kind::used;
  Resource resource = Resource::cpu;
  Tier tier = Tier::native;  // tier of the requested amount
};

// Returns the name for koord.evict/1: "cpu" for usage, "kubernetes.io/batch-cpu.request" for a request.
std::string name_of(const Released& released);
// Returns the amount that the eviction of the pod releases, in milli-cores or bytes; 0 if unknown.
std::int64_t releases(const Candidate& pod, const Released& released);

struct Victim {
  const Candidate* pod = nullptr;
  std::optional<double> weight;  // within one priority, heavier pods are evicted first, and pods without a weight last
};

// Sorts by eviction order: the pod's annotation, its priority, its label, its weight, its name.
void put_in_order(std::vector<Victim>& victims);

// Name and value of each input of a demand, for operators.
using Inputs = std::vector<std::pair<std::string, std::string>>;

struct Demand {
  std::string feature;
  Released released;
  std::int64_t amount = 0;      // amount to release, milli-cores or bytes
  std::vector<Victim> victims;  // victims in eviction order; more than needed, because the host may refuse some
  std::string reason;           // a sentence for operators
  Inputs inputs;
};

// Combines the demands of one round, the most important first. Each demand is reduced by the amounts that the evictions
// of earlier demands release. A demand is left out if nothing remains, or if no remaining pod would release anything.
std::vector<Demand> settle(std::vector<Demand> demands);

}  // namespace koord::eviction
