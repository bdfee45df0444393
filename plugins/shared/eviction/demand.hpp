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
  Tier tier = Tier::native;  // of what is requested
};

// As koord.evict/1 has it: "cpu" for what is used; "kubernetes.io/batch-cpu.request" for what is requested.
std::string name_of(const Released& released);
// Milli-cores or bytes; 0 when it is not known.
std::int64_t releases(const Candidate& pod, const Released& released);

struct Victim {
  const Candidate* pod = nullptr;
  std::optional<double> weight;  // among pods of one priority the heavier goes first, and after them those without
};

// The first to go first: by the pod's annotation, its priority, its label, its weight, its name.
void put_in_order(std::vector<Victim>& victims);

// Name and value of each figure behind a demand, for operators.
using Inputs = std::vector<std::pair<std::string, std::string>>;

struct Demand {
  std::string feature;
  Released released;
  std::int64_t amount = 0;      // to release, milli-cores or bytes
  std::vector<Victim> victims;  // in order; more than are needed, for some may have to stay
  std::string reason;           // one sentence for operators
  Inputs inputs;
};

// The demands of one round, the most important first. Each counts on the amounts released by the evictions before it; a
// demand that has enough then, or no pod that would release something, is left out.
std::vector<Demand> settle(std::vector<Demand> demands);

}  // namespace koord::eviction
