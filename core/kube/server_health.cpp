// SPDX-License-Identifier: Apache-2.0
#include "core/kube/server_health.hpp"

#include <algorithm>
#include <utility>

namespace koord::kube {

ServerHealth::Member::Member(ServerHealth& health, std::function<void(Wake)> wake)
    : health_(health), wake_(std::move(wake)) {
  health_.members_.push_back(this);
}

ServerHealth::Member::~Member() {
  waits_ = false;
  watch_closed();
  std::erase(health_.members_, this);
}

void ServerHealth::Member::wait(Time not_before) {
  waits_ = true;
  not_before_ = not_before;
  health_.plan_probe();
}

void ServerHealth::Member::succeeded() {
  waits_ = false;
  health_.wake_all();
}

void ServerHealth::Member::watch_opened() {
  if (!std::exchange(watches_, true)) ++health_.open_watches_;
  succeeded();
}

void ServerHealth::Member::watch_closed() {
  if (!std::exchange(watches_, false)) return;
  --health_.open_watches_;
  health_.plan_probe();
}

// Returns the waiting member with the earliest `not_before`; if several members have the same time, returns the member
// that was woken longest ago.
ServerHealth::Member* ServerHealth::first_waiting() const {
  Member* first = nullptr;
  for (Member* member : members_) {
    if (!member->waits_) continue;
    const auto rank = [](const Member& one) { return std::pair(one.not_before_, one.order_); };
    if (first == nullptr || rank(*member) < rank(*first)) first = member;
  }
  return first;
}

void ServerHealth::plan_probe() {
  if (!away()) return;
  Duration longest = options_.first;
  for (std::uint32_t i = 0; i < probes_ && longest < options_.longest; ++i) longest *= 2;
  longest = std::min(longest, options_.longest);
  const Duration own = random_.between(longest / 2, longest);
  const Time now = clock_.now();
  const Time due = now + std::max(own, first_waiting()->not_before_ - now);
  if (timer_ && due_ <= due) return;
  due_ = due;
  timer_ = loop_.after(due - now, [this] { probe(); });
}

void ServerHealth::probe() {
  timer_.reset();
  Member* const first = away() ? first_waiting() : nullptr;
  if (first == nullptr) return;
  ++probes_;
  first->waits_ = false;
  first->order_ = ++last_order_;
  first->wake_(Wake::probe);
  plan_probe();  // the probe may get no answer
}

void ServerHealth::wake_all() {
  const bool was_away = probes_ != 0 || first_waiting() != nullptr;
  if (!was_away) return;
  probes_ = 0;
  timer_.reset();
  // A member may fail immediately and wait again. In that case, it is woken the next time.
  for (Member* member : std::vector(members_)) {
    if (std::find(members_.begin(), members_.end(), member) == members_.end()) continue;
    if (member->watches_) continue;
    member->waits_ = false;
    member->wake_(Wake::answered);
  }
}

}  // namespace koord::kube
