// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/memory_events.hpp"

#include <algorithm>
#include <cstdio>

#include "core/base/utf8.hpp"

namespace koord::memory_events {
namespace {

std::string mebibytes(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f MiB", bytes / (1 << 20));
  return text;
}

std::string quoted(const std::string& name) {
  return is_valid_utf8(name) ? "'" + name + "'" : "(a name that is not text)";
}

}  // namespace

void KillCount::update(std::optional<std::int64_t> counted, std::int64_t logged) {
  if (counted) {
    counted_ = *counted;
    logged_when_counted_ = logged;
  }
  const std::int64_t now = counted_ + logged - logged_when_counted_;
  if (counted || logged > 0) total_ = std::max(total_.value_or(0), now);
}

void Kills::update(std::optional<std::int64_t> counted, bool subtree) {
  if (counted) subtree_ = subtree;
  count_.update(counted, subtree_.value_or(true) ? own_ + below_ + in_container_ : own_);
}

std::optional<std::int64_t> Kills::total() const {
  const std::optional<std::int64_t> counted = count_.total();
  if (!counted && below_ + of_containers_ == 0) return std::nullopt;
  if (subtree_.value_or(true)) return std::max(counted.value_or(0), of_containers_);
  return counted.value_or(0) + below_ + of_containers_;
}

std::int64_t UnreportedKills::take(std::int64_t unexplained, bool settle) {
  const std::int64_t settled = settle ? std::min(unexplained, previous_) : unexplained;
  previous_ = unexplained;
  const std::int64_t fresh = std::max<std::int64_t>(settled - reported_, 0);
  reported_ += fresh;
  return fresh;
}

std::string describe(const OomKill& kill) {
  std::string text = kill.process.empty() ? "killed a process" : "killed " + quoted(kill.process);
  if (kill.pid > 0) text += ", pid " + std::to_string(kill.pid);
  text += " in " + quoted(kill.cgroup);
  if (kill.limit_cgroup.empty()) return text + "; the node had no memory left";
  text += kill.limit_cgroup == kill.cgroup ? "; its limit was hit"
                                           : "; the limit of " + quoted(kill.limit_cgroup) + " was hit";
  if (kill.usage_bytes && kill.limit_bytes)
    text += ": " + mebibytes(static_cast<double>(*kill.usage_bytes)) + " of " +
            mebibytes(static_cast<double>(*kill.limit_bytes)) + " in use";
  return text;
}

std::string describe_unexplained(std::int64_t kills, std::optional<std::int64_t> usage_bytes,
                                 std::optional<std::int64_t> limit_bytes) {
  std::string text = kills == 1 ? "a process killed, which one is not known"
                                : std::to_string(kills) + " processes killed, which ones is not known";
  if (!usage_bytes) return text;
  text += "; " + mebibytes(static_cast<double>(*usage_bytes));
  if (limit_bytes && *limit_bytes >= 0) text += " of " + mebibytes(static_cast<double>(*limit_bytes));
  return text + " in use now";
}

}  // namespace koord::memory_events
