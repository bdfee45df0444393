// SPDX-License-Identifier: Apache-2.0
// HeldViews: the views that one plugin has acquired and not yet released, under the opaque type that the plugin sees. A
// pointer from a plugin is looked up, never trusted: releasing twice does no harm. [any thread]
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace koord::service {

template <class Opaque, class View>
class HeldViews {
 public:
  using ViewPtr = std::shared_ptr<const View>;

  const Opaque* acquire(ViewPtr view) {
    const auto* opaque = reinterpret_cast<const Opaque*>(view.get());
    std::lock_guard lock(mutex_);
    Hold& hold = holds_[opaque];
    hold.view = std::move(view);
    ++hold.count;
    return opaque;
  }

  // False when the plugin does not hold it.
  bool release(const Opaque* opaque) {
    ViewPtr last;  // freed outside of the lock
    std::lock_guard lock(mutex_);
    auto hold = holds_.find(opaque);
    if (hold == holds_.end()) return false;
    if (--hold->second.count > 0) return true;
    last = std::move(hold->second.view);
    holds_.erase(hold);
    return true;
  }

  std::size_t held() const {
    std::lock_guard lock(mutex_);
    std::size_t held = 0;
    for (const auto& [opaque, hold] : holds_) held += hold.count;
    return held;
  }

  // The view of a pointer that the plugin holds.
  static const View& view_of(const Opaque* opaque) { return *reinterpret_cast<const View*>(opaque); }

 private:
  struct Hold {
    ViewPtr view;
    std::size_t count = 0;
  };

  mutable std::mutex mutex_;
  std::unordered_map<const Opaque*, Hold> holds_;
};

}  // namespace koord::service
