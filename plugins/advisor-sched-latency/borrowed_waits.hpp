// SPDX-License-Identifier: Apache-2.0
// BorrowedWaits requests the waits that advisor-interference measures anyway, and reads them
// (plugins/shared/latency/posted_waits.hpp). Used on the plugin's strand.
#pragma once

#include <cstdint>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/posted_waits.hpp"

namespace koord::sched_latency {

class BorrowedWaits {
 public:
  // After this many periods without a new post, advisor-interference has ended.
  static constexpr int kMostMissed = 2;

  enum class Post {
    none,       // no new post
    first,      // first post of a session; its totals are the base of differences
    continued,  // same session as the previous post
  };

  BorrowedWaits() = default;
  // If the host lacks koord.kv/1, no waits are borrowed.
  explicit BorrowedWaits(const koord_host* host);

  // Requests waits and reads the post. Call it once in each period.
  Post poll();
  // Returns the totals of the last new post.
  const latency::Reading<latency::Waits>& reading() const { return posted_.reading; }
  // Returns whether each period has a new post.
  bool is_steady() const { return in_a_row_ >= 2; }
  bool is_lost() const { return missed_ >= kMostMissed; }
  // Makes poll() return `first` for the next new post.
  void forget() { begins_again_ = true; }

 private:
  bool has_service_ = false;
  plugin::Kv kv_;
  latency::PostedWaits posted_;
  bool begins_again_ = false;
  int missed_ = 0, in_a_row_ = 0;  // consecutive periods without a new post; with a new post
};

}  // namespace koord::sched_latency
