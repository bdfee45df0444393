// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/borrowed_waits.hpp"

#include <optional>
#include <string>
#include <utility>

namespace koord::sched_latency {

BorrowedWaits::BorrowedWaits(const koord_host* host) : has_service_(host->get_service(host, "koord.kv/1") != nullptr) {
  if (has_service_) kv_ = plugin::Kv(host);
}

// The last post of a session stays in koord.kv/1 for a while after the session has ended, even if the agent restarts. A
// post is new if its session differs from the last post's session or its number is higher.
BorrowedWaits::Post BorrowedWaits::poll() {
  if (!has_service_) return Post::none;
  kv_.set(latency::own_key(latency::kWaitsRequest), "1", latency::kRequestLifetime);
  const std::optional<std::string> text = kv_.get(latency::kPostedWaits);
  auto posted = latency::read_posted_waits(text.value_or(""));
  const bool is_same = posted && posted->session == posted_.session;
  if (!posted || (is_same && posted->number <= posted_.number)) {
    ++missed_;
    in_a_row_ = 0;
    return Post::none;
  }
  missed_ = 0;
  in_a_row_ = is_same ? in_a_row_ + 1 : 1;
  posted_ = std::move(*posted);
  const bool begins_again = std::exchange(begins_again_, false);
  return is_same && !begins_again ? Post::continued : Post::first;
}

}  // namespace koord::sched_latency
