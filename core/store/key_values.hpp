// SPDX-License-Identifier: Apache-2.0
// The static part of the metric cache: few keys, read often, changed rarely (what CPUs and disks there are). All of it
// stands in memory; the writer brings changes to the file. Part of State and guarded by its mutex.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/store/types.hpp"

namespace koord::store {

struct KeyValue {
  std::string value;
  std::optional<std::int64_t> expires_ms;
};

class KeyValues {
 public:
  Result<void> put(const std::string& key, KeyValue value, std::int64_t now_ms);
  // nullptr if missing or expired.
  const std::string* get(const std::string& key, std::int64_t now_ms) const;
  void erase(const std::string& key);
  void erase_expired(std::int64_t now_ms);
  KeyValueUse use_below(const std::string& prefix) const;

  // As read from a file; what was put in the meantime is newer and wins.
  void load(const std::string& key, KeyValue value);

  // nullopt: the key is gone.
  using Change = std::pair<std::string, std::optional<KeyValue>>;
  std::vector<Change> take_changes();
  // Those changes did not reach the file: they are to be taken again.
  void restore(const std::vector<Change>& changes);
  void mark_all_changed();

 private:
  std::map<std::string, KeyValue> values_;
  std::set<std::string> changed_;
  std::size_t bytes_ = 0;
};

}  // namespace koord::store
