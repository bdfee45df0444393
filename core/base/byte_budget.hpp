// SPDX-License-Identifier: Apache-2.0
// ByteBudget: a number of bytes that several holders have together. ByteShare: the bytes of one holder, which end with
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/result.hpp"

namespace koord {

// [any thread]
class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t limit) : limit_(limit) {}

  // Shares that exceed a lower limit stay.
  void set_limit(std::uint64_t limit) { limit_.store(limit, std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  friend class ByteShare;
  bool take(std::uint64_t bytes);

  std::atomic<std::uint64_t> limit_;
  std::atomic<std::uint64_t> used_ = 0;
};

// [one thread at a time]
class ByteShare {
 public:
  ByteShare() = default;  // without a limit
  explicit ByteShare(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
  ByteShare(ByteShare&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  ByteShare& operator=(ByteShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ByteShare() { shrink(bytes_); }

  bool is_limited() const { return budget_ != nullptr; }
  std::uint64_t bytes() const { return bytes_; }
  // Another share of the same budget.
  ByteShare sibling() const { return ByteShare(budget_); }

  // Fails with errc::not_enough_memory, and changes nothing, if the budget would be exceeded.
  Result<void> grow(std::uint64_t bytes) {
    if (budget_ == nullptr) return {};
    if (!budget_->take(bytes)) return exceeded(bytes);
    bytes_ += bytes;
    return {};
  }
  // By no more than it has.
  void shrink(std::uint64_t bytes) {
    if (budget_ == nullptr) return;
    bytes_ -= bytes;
    budget_->used_.fetch_sub(bytes, std::memory_order_relaxed);
  }

 private:
  Error exceeded(std::uint64_t more) const;

  std::shared_ptr<ByteBudget> budget_;
  std::uint64_t bytes_ = 0;
};

}  // namespace koord
