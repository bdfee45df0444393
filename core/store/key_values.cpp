// SPDX-License-Identifier: Apache-2.0
#include "core/store/key_values.hpp"

#include <utility>

namespace koord::store {
namespace {

constexpr std::size_t kMaxKeyBytes = 256;
constexpr std::size_t kMaxValueBytes = 1u << 20;
constexpr std::size_t kMaxKeyValueBytes = 16u << 20;

Error too_large(const char* what, const std::string& key, std::size_t found, std::size_t most) {
  return invalid(std::string(what) + " of '" + key.substr(0, 64) + "': " + std::to_string(found) +
                 " bytes, expected at most " + std::to_string(most));
}

bool expired(const KeyValue& value, std::int64_t now_ms) { return value.expires_ms && *value.expires_ms <= now_ms; }

}  // namespace

Result<void> KeyValues::put(const std::string& key, KeyValue value, std::int64_t now_ms) {
  if (key.empty()) return invalid("the key is empty");
  if (key.size() > kMaxKeyBytes) return too_large("key", key, key.size(), kMaxKeyBytes);
  if (value.value.size() > kMaxValueBytes) return too_large("value", key, value.value.size(), kMaxValueBytes);
  erase_expired(now_ms);
  auto old = values_.find(key);
  std::size_t replaced = old == values_.end() ? 0 : key.size() + old->second.value.size();
  std::size_t bytes = bytes_ - replaced + key.size() + value.value.size();
  if (bytes > kMaxKeyValueBytes) return too_large("all values with that", key, bytes, kMaxKeyValueBytes);
  bytes_ = bytes;
  values_[key] = std::move(value);
  changed_.insert(key);
  return {};
}

const std::string* KeyValues::get(const std::string& key, std::int64_t now_ms) const {
  auto found = values_.find(key);
  return found == values_.end() || expired(found->second, now_ms) ? nullptr : &found->second.value;
}

void KeyValues::erase(const std::string& key) {
  auto found = values_.find(key);
  if (found == values_.end()) return;
  bytes_ -= key.size() + found->second.value.size();
  values_.erase(found);
  changed_.insert(key);
}

void KeyValues::erase_expired(std::int64_t now_ms) {
  for (auto each = values_.begin(); each != values_.end();) {
    auto current = each++;
    if (expired(current->second, now_ms)) erase(std::string(current->first));
  }
}

KeyValueUse KeyValues::use_below(const std::string& prefix) const {
  KeyValueUse use;
  for (auto each = values_.lower_bound(prefix); each != values_.end() && each->first.starts_with(prefix); ++each) {
    ++use.keys;
    use.bytes += each->first.size() + each->second.value.size();
  }
  return use;
}

void KeyValues::load(const std::string& key, KeyValue value) {
  if (values_.contains(key) || changed_.contains(key)) return;
  bytes_ += key.size() + value.value.size();
  values_[key] = std::move(value);
}

std::vector<KeyValues::Change> KeyValues::take_changes() {
  std::vector<Change> changes;
  for (const std::string& key : std::exchange(changed_, {})) {
    auto found = values_.find(key);
    changes.emplace_back(key, found == values_.end() ? std::nullopt : std::optional(found->second));
  }
  return changes;
}

void KeyValues::restore(const std::vector<Change>& changes) {
  for (const Change& change : changes) changed_.insert(change.first);
}

void KeyValues::mark_all_changed() {
  for (const auto& each : values_) changed_.insert(each.first);
}

}  // namespace koord::store
