// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-batch-resource/batch_resource.hpp"

#include <algorithm>

namespace koord::batch {
namespace {

// As the kubelet does for CPU: 1024 shares and 100 ms of each 100 ms a core; the kernel takes 2 … 262144 shares, and 1 ms at least.
constexpr std::int64_t kLeastShares = 2, kMostShares = 262144;
constexpr std::int64_t kLeastQuota = 1000, kPeriod = 100'000;

std::int64_t shares_of(std::int64_t milli) { return std::clamp(milli * 1024 / 1000, kLeastShares, kMostShares); }

std::int64_t quota_of(std::optional<std::int64_t> milli) {
  if (!milli || *milli <= 0) return kNoLimit;
  return std::max(*milli * kPeriod / 1000, kLeastQuota);
}

std::int64_t memory_of(std::optional<std::int64_t> bytes) { return bytes && *bytes > 0 ? *bytes : kNoLimit; }

// The amounts of all containers that run together; nullopt as soon as one has none.
struct Sum {
  std::int64_t together = 0, most_of_init = 0;
  bool is_limited = true;

  void add(std::optional<std::int64_t> amount, bool is_init) {
    if (!amount || *amount <= 0) {
      is_limited = false;
    } else if (is_init) {
      most_of_init = std::max(most_of_init, *amount);
    } else {
      together += *amount;
    }
  }
  std::int64_t value() const { return std::max(together, most_of_init); }
  std::optional<std::int64_t> limit() const { return is_limited ? std::optional(value()) : std::nullopt; }
};

}  // namespace

std::optional<Limits> limits_of(const Amounts& container) {
  if (!container.is_batch()) return std::nullopt;
  return Limits{shares_of(container.cpu_request.value_or(0)), quota_of(container.cpu_limit), memory_of(container.memory_limit)};
}

std::optional<Limits> limits_of(const std::vector<Amounts>& containers) {
  if (std::none_of(containers.begin(), containers.end(), [](const Amounts& one) { return one.is_batch(); })) return std::nullopt;
  Sum request, cpu, memory;
  for (const Amounts& one : containers) {
    request.add(one.cpu_request.value_or(0), one.is_init);
    cpu.add(one.cpu_limit, one.is_init);
    memory.add(one.memory_limit, one.is_init);
  }
  return Limits{shares_of(request.value()), quota_of(cpu.limit()), memory_of(memory.limit())};
}

}  // namespace koord::batch
