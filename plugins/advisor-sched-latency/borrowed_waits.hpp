// SPDX-License-Identifier: Apache-2.0
// BorrowedWaits asks advisor-interference for the waits that it measures anyway, and takes them
// (plugins/shared/latency/posted_waits.hpp). Used on the plugin's strand.
#pragma once

#include <cstdint>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/posted_waits.hpp"

namespace koord::sched_latency {

class BorrowedWaits {
 public:
  // This many periods without a new post: advisor-interference has ended.
  static constexpr int kMostMissed = 2;

  enum class Post {
    none,       // that is new
    first,      // of its session: its totals are those to begin with
    continued,  // of the session of the one before
  };

  BorrowedWaits() = default;
  // The host may lack koord.kv/1: nothing is borrowed then.
  explicit BorrowedWaits(const koord_host* host);

  // Asks for waits, and looks for a post. Once each period.
  Post poll();
  // The totals of the last post that was not none.
  const latency::Reading<latency::Waits>& reading() const { return posted_.reading; }
  // Each period has a new post.
  bool is_steady() const { return in_a_row_ >= 2; }
  bool is_lost() const { return missed_ >= kMostMissed; }
  // The next new post is the first again.
  void forget() { begins_again_ = true; }

 private:
  bool has_service_ = false;
  plugin::Kv kv_;
  latency::PostedWaits posted_;
  bool begins_again_ = false;
  int missed_ = 0, in_a_row_ = 0;  // periods without a new post, and with one
};

}  // namespace koord::sched_latency
