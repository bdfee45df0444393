// SPDX-License-Identifier: Apache-2.0
// WaitsPost passes the waits of all cgroups to advisor-sched-latency while that plugin requests them
// (plugins/shared/latency/posted_waits.hpp). Header-only. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/shared/latency/posted_waits.hpp"

namespace koord::interference {

class WaitsPost {
 public:
  // Shorter than the reader's period of 5 s, so each of its readings finds a new post.
  static constexpr int kWindowsBetween = 4;

  WaitsPost() = default;
  explicit WaitsPost(const koord_host* host) : host_(host), kv_(host) {}

  // Returns which waits to read in this window.
  Lengths begin_window() {
    if (++windows_ % kWindowsBetween != 0) return is_wanted_ ? Lengths::of_ended : Lengths::none;
    is_wanted_ = kv_.get(latency::kWaitsRequest).has_value();
    return is_wanted_ ? Lengths::all : Lengths::none;
  }

  void update(const latency::Reading<latency::Waits>& reading, std::uint64_t now_ns) {
    if (!is_wanted_) return ended_.clear();
    ended_.insert(ended_.end(), reading.ended.begin(), reading.ended.end());
    if (windows_ % kWindowsBetween == 0) post(reading, now_ns);
  }

 private:
  // Failures are only logged, because the reader measures the waits itself if a post is missing.
  void post(const latency::Reading<latency::Waits>& reading, std::uint64_t now_ns) {
    if (session_ == 0) session_ = now_ns;
    latency::PostedWaits posted{session_, ++number_, reading};
    posted.reading.ended = std::exchange(ended_, {});
    try {
      kv_.set(latency::own_key(latency::kPostedWaits), latency::write_posted_waits(posted), latency::kPostLifetime);
    } catch (const plugin::Failure& failure) {
      host_->log(host_, KOORD_LOG_WARN, plugin::str(std::string("waits for advisor-sched-latency: ") + failure.what()));
    }
  }

  const koord_host* host_ = nullptr;
  plugin::Kv kv_;
  std::uint64_t session_ = 0, number_ = 0;
  int windows_ = 0;
  bool is_wanted_ = false;
  std::vector<latency::CgroupTotal<latency::Waits>> ended_;  // cgroups that ended since the last post
};

}  // namespace koord::interference
