// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/pick_cpus.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace koord::cpu_suppress {
namespace {

using Bucket = std::vector<Cpu>;  // CPUs of one socket of a NUMA node, ordered by core

std::vector<Bucket> buckets_of(const std::vector<Cpu>& cpus) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bucket> by_place;
  for (const Cpu& cpu : cpus) by_place[{cpu.numa_node, cpu.socket}].push_back(cpu);
  std::vector<Bucket> buckets;
  for (auto& [place, bucket] : by_place) {
    std::sort(bucket.begin(), bucket.end(),
              [](const Cpu& a, const Cpu& b) { return std::tie(a.core, a.cpu) < std::tie(b.core, b.cpu); });
    buckets.push_back(std::move(bucket));
  }
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front().cpu < b.front().cpu;
  });
  return buckets;
}

class Walk {
 public:
  Walk(std::size_t need, std::vector<Bucket> buckets) : need_(need), buckets_(std::move(buckets)) {}

  CpuSet picked() {
    go_round(2, [](const Bucket& bucket, std::size_t i) {
      return i + 1 < bucket.size() && bucket[i].core == bucket[i + 1].core;
    });
    go_round(1, [](const Bucket& bucket, std::size_t i) { return i < bucket.size(); });
    return picked_;
  }

 private:
  // Takes `size` adjacent CPUs that fit from one bucket after the other, until fewer CPUs are needed or no bucket has
  // any.
  template <class Fits>
  void go_round(std::size_t size, const Fits& fits) {
    for (std::size_t in_vain = 0; need_ >= size && in_vain < buckets_.size(); at_ = (at_ + 1) % buckets_.size())
      in_vain = take(buckets_[at_], size, fits) ? 0 : in_vain + 1;
  }

  template <class Fits>
  bool take(Bucket& bucket, std::size_t size, const Fits& fits) {
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      if (!fits(bucket, i)) continue;
      for (std::size_t n = 0; n < size; ++n) picked_.insert(bucket[i + n].cpu);
      const auto first = bucket.begin() + static_cast<std::ptrdiff_t>(i);
      bucket.erase(first, first + static_cast<std::ptrdiff_t>(size));
      need_ -= size;
      return true;
    }
    return false;
  }

  std::size_t need_, at_ = 0;
  std::vector<Bucket> buckets_;
  CpuSet picked_;
};

}  // namespace

CpuSet pick_cpus(std::size_t count, const std::vector<Cpu>& cpus) { return Walk(count, buckets_of(cpus)).picked(); }

CpuSet Pools::usable() const {
  CpuSet all;
  for (const Cpu& cpu : online) all.insert(cpu.cpu);
  return all - excluded;
}

CpuSet pick_from_pools(std::size_t count, const Pools& pools) {
  std::vector<Cpu> of_lsr, shared;
  for (const Cpu& cpu : pools.online)
    if (!pools.excluded.contains(cpu.cpu)) (pools.lsr.contains(cpu.cpu) ? of_lsr : shared).push_back(cpu);
  const std::size_t usable = of_lsr.size() + shared.size();
  if (usable == 0) return {};
  count = std::min(count, usable);
  const std::size_t from_lsr = count * of_lsr.size() / usable;
  return pick_cpus(from_lsr, of_lsr) | pick_cpus(count - from_lsr, shared);
}

}  // namespace koord::cpu_suppress
