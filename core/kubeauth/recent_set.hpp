// SPDX-License-Identifier: Apache-2.0
// RecentSet: a bounded set of texts, by their hash, that were added within a time: at least `keep`, at most twice that.
// A text that was never added may be found because of an equal hash. [one thread]
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/clock.hpp"

namespace koord::kubeauth {

class RecentSet {
 public:
  RecentSet(Duration keep, std::size_t most) : keep_(keep), most_(most) {}

  bool contains(const std::string& text, Time now) {
    turn(now);
    const std::size_t hash = hash_of(text);
    return newer_.contains(hash) || older_.contains(hash);
  }
  // Without effect while the set is full.
  void add(const std::string& text, Time now) {
    turn(now);
    if (newer_.size() < most_) newer_.insert(hash_of(text));
  }
  void remove(const std::string& text) {
    newer_.erase(hash_of(text));
    older_.erase(hash_of(text));
  }
  std::size_t size() const { return newer_.size() + older_.size(); }

 private:
  static std::size_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }
  void turn(Time now) {
    if (now < next_turn_) return;
    const bool is_late = next_turn_ != Time::min() && now >= later(next_turn_, keep_);
    older_ = std::exchange(newer_, {});
    if (is_late) older_.clear();
    next_turn_ = later(now, keep_);
  }

  const Duration keep_;
  const std::size_t most_;
  Time next_turn_ = Time::min();
  std::unordered_set<std::size_t> newer_, older_;
};

}  // namespace koord::kubeauth
