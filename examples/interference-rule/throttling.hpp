// SPDX-License-Identifier: Apache-2.0
// The rule, independent of the host: turns readings of a counter of throttled time into findings.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

// A finding begins when a container is throttled for more than `limit` of the time in at least 3 of 5 windows. It
// stands until 10 consecutive windows are below the limit.
class Throttling {
 public:
  static constexpr std::size_t kLeastOver = 3, kOf = 5, kClearAfter = 10;

  explicit Throttling(double limit) : limit_(limit) {}

  // The windows of a throttled container.
  struct Finding {
    std::uint64_t from_ns = 0, to_ns = 0;  // begin of the first and end of the last window above the limit
    std::uint32_t over = 0, seen = 0;      // windows above the limit, and all windows, in that time
    double share = 0;                      // throttled share of the time, averaged over the windows above the limit
  };
  enum class State { quiet, stands, ended };

  // Adds a reading of the counter. The difference to the previous reading is a window. `ended`: the finding stood until
  // now.
  State add(std::uint64_t read_ns, std::int64_t throttled_ns) {
    if (read_ns <= read_ns_) return stands_ ? State::stands : State::quiet;
    const std::uint64_t begin = read_ns_;
    const bool is_first = !throttled_ns_ || throttled_ns < *throttled_ns_;  // the first, or the counter was reset
    const double share =
        is_first ? 0 : static_cast<double>(throttled_ns - *throttled_ns_) / static_cast<double>(read_ns - begin);
    read_ns_ = read_ns;
    throttled_ns_ = throttled_ns;
    return is_first ? (stands_ ? State::stands : State::quiet) : judge(begin, share);
  }

  double limit() const { return limit_; }
  const Finding& finding() const { return finding_; }

 private:
  State judge(std::uint64_t begin, double share) {
    const bool is_over = share > limit_;
    windows_ = windows_ << 1 | std::bitset<kClearAfter>(is_over ? 1 : 0);
    if (is_over && finding_.over == 0) finding_.from_ns = begin;
    if (finding_.over > 0 || is_over) ++finding_.seen;
    if (is_over) {
      finding_.to_ns = read_ns_;
      finding_.share += (share - finding_.share) / ++finding_.over;
    }
    const std::size_t last = (windows_ & std::bitset<kClearAfter>((1u << kOf) - 1)).count();
    if (last >= kLeastOver) stands_ = true;
    if (windows_.any()) return stands_ ? State::stands : State::quiet;
    finding_ = {};
    const bool stood = stands_;
    stands_ = false;
    return stood ? State::ended : State::quiet;
  }

  double limit_;
  std::uint64_t read_ns_ = 0;
  std::optional<std::int64_t> throttled_ns_;
  std::bitset<kClearAfter> windows_;  // the newest is bit 0; set: above the limit
  bool stands_ = false;
  Finding finding_;
};
