// SPDX-License-Identifier: Apache-2.0
// WriteBounds: detects that a different program changes the objects that we write. In that case it limits our own
// writes. Without a limit, two programs that restore their own values would never stop writing. Pure. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"

namespace koord::manager {

class WriteBounds {
 public:
  struct Limits {
    std::uint32_t overwrites = 3;                // after this number for an object, we stop writing it
    Duration window = std::chrono::minutes(10);  // overwrites count for this time, and we pause for this time
  };

  WriteBounds() = default;
  explicit WriteBounds(const Limits& limits) : limits_(limits) {}

  // Called when a different program has changed an object that we wrote. `by`: its name; may be empty.
  void overwritten(const std::string& name, const std::string& by, Time now);
  void forget(const std::string& name) { objects_.erase(name); }
  void forget_all() { objects_.clear(); }  // does not reset overwrites()

  // Returns when we may write the object: `now`, or later while it is contested.
  Time may_write_at(const std::string& name, Time now);

  std::size_t contested(Time now) const;                           // objects that we do not write now
  std::uint64_t overwrites() const { return total_; }              // total number
  const std::string& last_writer() const { return last_writer_; }  // other program that wrote last; empty: unknown

 private:
  struct Object {
    std::uint32_t overwrites = 0;
    Time since{};  // time of the first overwrite
  };

  Limits limits_;
  std::map<std::string, Object> objects_;  // only objects that others have changed
  std::uint64_t total_ = 0;
  std::string last_writer_;
};

// Returns the program that changed an object last, from its managedFields, ignoring `own`; "" if unknown.
std::string last_manager_of(std::string_view object, std::string_view own);

}  // namespace koord::manager
