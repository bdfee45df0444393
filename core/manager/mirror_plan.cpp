// SPDX-License-Identifier: Apache-2.0
#include "core/manager/mirror_plan.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <tuple>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {

Result<std::string> mirrored_status(std::string_view status) {
  boost::json::object object = TRY(read_json_object(status));
  object.erase("conditions");
  object.erase("reportIntervalSeconds");
  if (boost::json::value* pods = object.if_contains("podsMetric"); pods && pods->is_array()) {
    for (boost::json::value& pod : pods->get_array()) {
      if (!pod.is_object()) continue;
      pod.get_object().erase("pressure");
      pod.get_object().erase("interference");
    }
  }
  return boost::json::serialize(object);
}

std::uint64_t content_of(std::string_view status) {
  constexpr std::string_view kMember = R"("updateTime":")";
  const std::size_t begin = status.find(kMember);
  if (begin == std::string_view::npos) return std::hash<std::string_view>()(status);
  const std::size_t end = std::min(status.find('"', begin + kMember.size()), status.size());
  const std::uint64_t before = std::hash<std::string_view>()(status.substr(0, begin));
  return before * 0x9e3779b97f4a7c15u ^ std::hash<std::string_view>()(status.substr(end));
}

void MirrorPlan::report(const std::string& node, std::uint64_t content) {
  Node& known = nodes_[node];
  known.content = content;
  known.has_new = true;
}

void MirrorPlan::forget(std::string_view node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  if (found->second.is_open) --open_;
  nodes_.erase(found);
}

void MirrorPlan::clear() {
  nodes_.clear();
  open_ = 0;
}

// Refills the token bucket, which holds the tokens of one second. Returns the whole tokens in it.
std::size_t MirrorPlan::take_tokens(Time now) {
  if (filled_) tokens_ += std::chrono::duration<double>(now - *filled_).count() * options_.per_second;
  if (!filled_) tokens_ = options_.per_second;
  tokens_ = std::clamp(tokens_, 0.0, std::max(options_.per_second, 1.0));
  filled_ = now;
  return static_cast<std::size_t>(tokens_);
}

std::vector<std::string> MirrorPlan::next(Time now) {
  const std::size_t most = std::min(take_tokens(now), options_.open - std::min(open_, options_.open));
  // Order: changed nodes, and unchanged nodes that have waited for two gaps, come first. Within each group, nodes are
  // sorted by the time of the last attempt (never tried first), then by name.
  std::vector<std::tuple<bool, Time, std::string_view>> due;
  for (const auto& [name, node] : nodes_) {
    const bool waits = node.tried && now - *node.tried < options_.gap;
    const bool is_late = node.tried && now - *node.tried >= 2 * options_.gap;
    if (node.has_new && !node.is_open && !waits)
      due.emplace_back(node.written == node.content && !is_late, node.tried.value_or(Time::min()), name);
  }
  const std::size_t count = std::min(most, due.size());
  std::partial_sort(due.begin(), due.begin() + static_cast<std::ptrdiff_t>(count), due.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = std::get<2>(due[i]);
    Node& node = nodes_.find(name)->second;
    node.is_open = true;
    node.has_new = false;
    node.sent = node.content;
    node.tried = now;
    ++open_;
    --tokens_;
    names.emplace_back(name);
  }
  return names;
}

void MirrorPlan::done(std::string_view node, bool was_written, Time now) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !found->second.is_open) return;
  --open_;
  found->second.is_open = false;
  found->second.tried = now;
  if (was_written)
    found->second.written = found->second.sent;
  else
    found->second.has_new = true;
}

}  // namespace koord::manager
