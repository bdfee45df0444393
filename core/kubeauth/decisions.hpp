// SPDX-License-Identifier: Apache-2.0
// Decisions: a bounded memory of decisions for a fixed time, by the text of the question. When it is full, the oldest
// ones make room. [one thread]
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/clock.hpp"

namespace koord::kubeauth {

template <class Decision>
class Decisions {
 public:
  // `bytes`: of all questions together.
  Decisions(Duration keep, std::size_t entries, std::size_t bytes)
      : keep_(keep), entries_(entries), most_bytes_(bytes) {}

  // Null: none that is fresh. Valid until the next call.
  const Decision* find(const std::string& question, Time now) {
    drop_expired(now);
    const auto found = decisions_.find(question);
    return found == decisions_.end() ? nullptr : &found->second;
  }

  // Without effect if a decision on this question is kept.
  void add(std::string question, Decision decision, Time now) {
    drop_expired(now);
    if (entries_ == 0 || question.size() > most_bytes_ || decisions_.contains(question)) return;
    while (decisions_.size() >= entries_ || bytes_ + question.size() > most_bytes_) drop_oldest();
    bytes_ += question.size();
    const auto added = decisions_.emplace(std::move(question), std::move(decision)).first;
    order_.emplace_back(&added->first, later(now, keep_));
  }

  std::size_t size() const { return decisions_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  void drop_expired(Time now) {
    while (!order_.empty() && order_.front().second <= now) drop_oldest();
  }
  void drop_oldest() {
    bytes_ -= order_.front().first->size();
    decisions_.erase(decisions_.find(*order_.front().first));
    order_.pop_front();
  }

  const Duration keep_;
  const std::size_t entries_, most_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Decision> decisions_;
  std::deque<std::pair<const std::string*, Time>> order_;  // keys of decisions_, with the end of their time
};

}  // namespace koord::kubeauth
