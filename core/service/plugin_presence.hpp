// SPDX-License-Identifier: Apache-2.0
// PluginPresence counts the contexts of each plugin: several classes of one module share one id, and their reports and
// series end with the last of them. [any thread]
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace koord::service {

class PluginPresence {
 public:
  void enter(std::string_view plugin) {
    std::lock_guard lock(mutex_);
    ++contexts_[std::string(plugin)];
  }

  // Runs `end` when this was the last one, before another can enter.
  template <class End>
  void leave(std::string_view plugin, End&& end) {
    std::lock_guard lock(mutex_);
    auto found = contexts_.find(plugin);
    if (found == contexts_.end() || --found->second > 0) return;
    contexts_.erase(found);
    end();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> contexts_;
};

}  // namespace koord::service
