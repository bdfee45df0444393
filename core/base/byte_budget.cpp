// SPDX-License-Identifier: Apache-2.0
#include "core/base/byte_budget.hpp"

#include <string>

namespace koord {

bool ByteBudget::take(std::uint64_t bytes) {
  std::uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    const std::uint64_t most = limit();
    if (bytes > most || used > most - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

Error ByteShare::exceeded(std::uint64_t more) const {
  const std::uint64_t own = bytes_ + more, others = budget_->used() - bytes_;
  return {std::make_error_code(std::errc::not_enough_memory),
          "found " + std::to_string(own) + " bytes in memory and " + std::to_string(others) +
              " beside them, expected at most " + std::to_string(budget_->limit()) + " together"};
}

}  // namespace koord
