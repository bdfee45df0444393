// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-batch-resource/batch_resource.hpp"

#include <algorithm>

#include "core/base/saturating.hpp"

namespace koord::batch {
namespace {

// Like the kubelet for CPU: a core has 1024 shares and a quota of 100 ms per 100 ms. The kernel accepts 2 to 262144
// shares, and a quota of at least 1 ms.
constexpr std::int64_t kLeastShares = 2, kMostShares = 262144;
constexpr std::int64_t kLeastQuota = 1000, kPeriod = 100'000;

// A million cores. A larger amount is a mistake, and its product would overflow.
constexpr std::int64_t kMostMilli = 1'000'000'000;

std::int64_t shares_of(std::int64_t milli) {
  return std::clamp(std::min(milli, kMostMilli) * 1024 / 1000, kLeastShares, kMostShares);
}

std::int64_t quota_of(std::optional<std::int64_t> milli) {
  if (!milli || *milli <= 0) return kNoLimit;
  return std::max(std::min(*milli, kMostMilli) * kPeriod / 1000, kLeastQuota);
}

std::int64_t memory_of(std::optional<std::int64_t> bytes) { return bytes && *bytes > 0 ? *bytes : kNoLimit; }

// Computes the largest sum of the amounts of containers that run at the same time.
class Need {
 public:
  // Adds a container. Without an amount, the pod has no limit.
  void add(std::optional<std::int64_t> amount, Kind kind) {
    if (!amount || *amount <= 0) {
      is_limited_ = false;
    } else if (kind == Kind::init) {
      at_start_ = std::max(at_start_, saturating_sum(sidecars_, *amount));
    } else if (kind == Kind::sidecar) {
      sidecars_ = saturating_sum(sidecars_, *amount);
    } else {
      regular_ = saturating_sum(regular_, *amount);
    }
  }
  std::int64_t value() const { return std::max(at_start_, saturating_sum(sidecars_, regular_)); }
  std::optional<std::int64_t> limit() const { return is_limited_ ? std::optional(value()) : std::nullopt; }

 private:
  std::int64_t regular_ = 0, sidecars_ = 0, at_start_ = 0;
  bool is_limited_ = true;
};

}  // namespace

std::optional<Limits> limits_of(const Amounts& container) {
  if (!container.is_batch()) return std::nullopt;
  return Limits{shares_of(container.cpu_request.value_or(0)), quota_of(container.cpu_limit),
                memory_of(container.memory_limit)};
}

std::optional<Limits> limits_of(const std::vector<Amounts>& containers) {
  if (std::none_of(containers.begin(), containers.end(), [](const Amounts& one) { return one.is_batch(); }))
    return std::nullopt;
  Need request, cpu, memory;
  for (const Amounts& one : containers) {
    request.add(one.cpu_request.value_or(0), one.kind);
    cpu.add(one.cpu_limit, one.kind);
    memory.add(one.memory_limit, one.kind);
  }
  return Limits{shares_of(request.value()), quota_of(cpu.limit()), memory_of(memory.limit())};
}

}  // namespace koord::batch
