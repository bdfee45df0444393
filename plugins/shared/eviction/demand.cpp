// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/demand.hpp"

#include <algorithm>

namespace koord::eviction {
namespace {

bool goes_before(const Victim& a, const Victim& b) {
  const Candidate &left = *a.pod, &right = *b.pod;
  if (left.order != right.order) return left.order < right.order;
  if (left.priority != right.priority) return left.priority < right.priority;
  if (left.sub_priority != right.sub_priority) return left.sub_priority < right.sub_priority;
  if (a.weight != b.weight) return b.weight < a.weight;  // nullopt is less than every weight
  return left.name < right.name;
}

bool is_among(const std::vector<const Candidate*>& pods, const Candidate* pod) {
  return std::find(pods.begin(), pods.end(), pod) != pods.end();
}

}  // namespace

std::string name_of(const Released& released) {
  if (released.kind == Kind::used) return std::string(name_of(released.resource, Tier::native));
  return std::string(name_of(released.resource, released.tier)) + ".request";
}

std::int64_t releases(const Candidate& pod, const Released& released) {
  if (released.kind == Kind::requested) return pod.requests(released.resource).of(released.tier);
  return std::max<std::int64_t>(pod.used.value_or(0), 0);
}

void put_in_order(std::vector<Victim>& victims) { std::sort(victims.begin(), victims.end(), goes_before); }

std::vector<Demand> settle(std::vector<Demand> demands) {
  std::vector<const Candidate*> going;
  for (Demand& demand : demands) {
    for (const Candidate* pod : going) demand.amount -= releases(*pod, demand.released);
    std::erase_if(demand.victims, [&](const Victim& victim) {
      return is_among(going, victim.pod) || releases(*victim.pod, demand.released) <= 0;
    });
    std::int64_t missing = demand.amount;
    for (const Victim& victim : demand.victims) {
      if (missing <= 0) break;
      missing -= releases(*victim.pod, demand.released);
      going.push_back(victim.pod);
    }
  }
  std::erase_if(demands, [](const Demand& demand) { return demand.amount <= 0 || demand.victims.empty(); });
  return demands;
}

}  // namespace koord::eviction
