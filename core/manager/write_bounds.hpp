// SPDX-License-Identifier: Apache-2.0
// WriteBounds: notices that another program writes the objects that we write, and bounds our own writes then: two
// programs that each put back its own value would never stop writing. Pure. [one thread]
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
    std::uint32_t overwrites = 3;                // of an object by others, after which we leave it alone
    Duration window = std::chrono::minutes(10);  // in which they count, and for how long we leave it alone
  };

  WriteBounds() = default;
  explicit WriteBounds(const Limits& limits) : limits_(limits) {}

  // Another program has changed what we had written. `by`: its name; may be empty.
  void overwritten(const std::string& name, const std::string& by, Time now);
  void forget(const std::string& name) { objects_.erase(name); }
  void forget_all() { objects_.clear(); }  // overwrites() stays

  // Returns when we may write the object: `now`, or later while it is contested.
  Time may_write_at(const std::string& name, Time now);

  std::size_t contested(Time now) const;                           // objects that we leave alone
  std::uint64_t overwrites() const { return total_; }              // in all
  const std::string& last_writer() const { return last_writer_; }  // of the others; empty: unknown

 private:
  struct Object {
    std::uint32_t overwrites = 0;
    Time since{};  // of the first
  };

  Limits limits_;
  std::map<std::string, Object> objects_;  // only those that others have changed
  std::uint64_t total_ = 0;
  std::string last_writer_;
};

// Returns the program that changed an object last, from its managedFields, except `own`; empty: unknown.
std::string last_manager_of(std::string_view object, std::string_view own);

}  // namespace koord::manager
