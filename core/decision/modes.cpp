// SPDX-License-Identifier: Apache-2.0
#include "core/decision/modes.hpp"

#include <algorithm>

namespace koord::decision {

void Modes::configure(std::string_view plugin, std::optional<Mode> mode) {
  if (mode)
    configured_.insert_or_assign(std::string(plugin), *mode);
  else if (auto known = configured_.find(plugin); known != configured_.end())
    configured_.erase(known);
}

Result<void> Modes::override_mode(std::string_view target, std::optional<Override> what) {
  if (target == kNodeTarget) {
    if (what && what->mode == Mode::enforce)
      return invalid(
          "the node's mode is a ceiling for all strategies, so 'enforce' would say nothing; expected off or shadow");
    ceiling_ = what;
  } else if (what) {
    overrides_.insert_or_assign(std::string(target), *what);
  } else if (auto known = overrides_.find(target); known != overrides_.end()) {
    overrides_.erase(known);
  }
  return {};
}

std::vector<std::string> Modes::expire(Time now) {
  std::vector<std::string> ended;
  if (ceiling_ && ceiling_->until <= now) {
    ceiling_.reset();
    ended.emplace_back(kNodeTarget);
  }
  std::erase_if(overrides_, [&](const auto& one) {
    if (one.second.until > now) return false;
    ended.push_back(one.first);
    return true;
  });
  return ended;
}

Mode Modes::of(std::string_view plugin) const {
  Mode mode = node_;
  if (auto override_entry = overrides_.find(plugin); override_entry != overrides_.end())
    mode = override_entry->second.mode;
  else if (auto known = configured_.find(plugin); known != configured_.end())
    mode = known->second;
  return ceiling_ ? std::min(mode, ceiling_->mode) : mode;
}

Modes::View Modes::view(std::string_view target) const {
  View view{std::string(target), {}, {}, of(target)};
  if (target == kNodeTarget) {
    view.configured = node_;
    view.override_mode = ceiling_;
    return view;
  }
  if (auto known = configured_.find(target); known != configured_.end()) view.configured = known->second;
  if (auto override_entry = overrides_.find(target); override_entry != overrides_.end())
    view.override_mode = override_entry->second;
  return view;
}

}  // namespace koord::decision
