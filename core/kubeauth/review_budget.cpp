// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review_budget.hpp"

#include <algorithm>

namespace koord::kubeauth {
namespace {

// The shortest time between two searches for full budgets, so a flood of questions does not search each time.
constexpr Duration kDropPeriod = std::chrono::seconds(1);

}  // namespace

void ReviewBudget::fill(Bucket& bucket, Time now, double whole, double per_second) {
  if (bucket.filled != Time::min())
    bucket.left += std::chrono::duration<double>(now - bucket.filled).count() * per_second;
  bucket.left = std::min(bucket.left, whole);
  bucket.filled = now;
}

void ReviewBudget::drop_whole(Time now) {
  if (now < next_drop_) return;
  next_drop_ = later(now, kDropPeriod);
  std::erase_if(clients_, [&](const auto& client) {
    Bucket own = client.second;
    fill(own, now, limits_.of_client, limits_.of_client_per_second);
    return own.left >= limits_.of_client;
  });
}

std::optional<std::string> ReviewBudget::take(std::string client, Time now) {
  drop_whole(now);
  if (!clients_.contains(client) && clients_.size() >= limits_.clients) client.clear();
  Bucket& own = clients_.try_emplace(client, limits_.of_client).first->second;
  fill(own, now, limits_.of_client, limits_.of_client_per_second);
  fill(all_, now, limits_.of_all, limits_.of_all_per_second);
  if (own.left < 1 || all_.left < 1) return std::nullopt;
  --own.left;
  --all_.left;
  return client;
}

void ReviewBudget::end(const std::string& payer, Answer answer, Time now) {
  if (answer == Answer::no) return;
  if (answer == Answer::yes) refund(payer, now);
  ++all_.left;
  fill(all_, now, limits_.of_all, limits_.of_all_per_second);
}

bool ReviewBudget::is_used_up(Time now) {
  fill(all_, now, limits_.of_all, limits_.of_all_per_second);
  return all_.left < 1;
}

// Refunds one question. A client without an entry has its full budget.
void ReviewBudget::refund(const std::string& payer, Time now) {
  const auto found = clients_.find(payer);
  if (found == clients_.end()) return;
  Bucket& own = found->second;
  ++own.left;
  fill(own, now, limits_.of_client, limits_.of_client_per_second);
  if (own.left >= limits_.of_client) clients_.erase(found);
}

}  // namespace koord::kubeauth
