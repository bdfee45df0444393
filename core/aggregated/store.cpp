// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/store.hpp"

#include <algorithm>
#include <utility>

namespace koord::aggregated {
namespace {

bool is_same_apart_from_status(const Object& a, const Object& b) {
  return a.labels() == b.labels() && a.annotations() == b.annotations() && a.owners() == b.owners() &&
         a.spec() == b.spec();
}

}  // namespace

Store::Store(Version first, StoreLimits limits)
    : limits_{limits.objects, std::max<std::size_t>(limits.deleted, 1)}, oldest_(first), newest_(first) {}

Store::Put Store::put(const std::shared_ptr<Object>& object, const ObjectPtr& expected) {
  std::unique_lock lock(mutex_);
  if (is_closed_) return Put::raced;
  const auto found = by_name_.find(object->name());
  const ObjectPtr before = found == by_name_.end() ? nullptr : found->second;
  if (before != expected) return Put::raced;
  if (!before && by_name_.size() >= limits_.objects) return Put::full;
  if (newest_ >= most_) return Put::out_of_versions;
  const Version version = next_version();
  object->created = before ? before->created : version;
  object->labelled = before && before->labels() == object->labels() ? before->labelled : version;
  object->described = before && is_same_apart_from_status(*before, *object) ? before->described : version;
  object->set_version(version);
  texts_.add(*object);
  if (before) {
    bytes_ -= before->bytes();
    by_version_.erase(before->version());
    found->second = object;
  } else {
    by_name_.emplace(object->name(), object);
  }
  bytes_ += object->bytes();
  by_version_.emplace_hint(by_version_.end(), version, Change{object, false});
  ++writes_;
  wake_all(std::move(lock));
  return Put::done;
}

ObjectPtr Store::remove(const ObjectPtr& expected) {
  std::unique_lock lock(mutex_);
  const auto found = by_name_.find(expected->name());
  if (is_closed_ || newest_ >= most_ || found == by_name_.end() || found->second != expected) return nullptr;
  std::shared_ptr<Object> last = expected->copy();
  const Version version = next_version();
  last->set_version(version);
  bytes_ -= expected->bytes();
  by_version_.erase(expected->version());
  by_name_.erase(found);
  if (const auto before = deleted_.find(last->name()); before != deleted_.end()) {
    // The new deletion replaces the earlier one of this name. It keeps the earlier creation, because a watcher at a
    // position before the first deletion must see a deletion.
    last->created = by_version_.at(before->second).object->created;
    by_version_.erase(before->second);
    deletions_.erase(before->second);
  }
  deleted_[last->name()] = version;
  deletions_.emplace(version, last->name());
  by_version_.emplace_hint(by_version_.end(), version, Change{last, true});
  ++writes_;
  while (deletions_.size() > limits_.deleted) drop_oldest_deleted();
  wake_all(std::move(lock));
  return last;
}

void Store::drop_oldest_deleted() {
  const auto first = deletions_.begin();
  oldest_ = std::max(oldest_, first->first);
  by_version_.erase(first->first);
  deleted_.erase(first->second);
  deletions_.erase(first);
}

ObjectPtr Store::find(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> Store::behind(std::string_view name, std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  std::vector<ObjectPtr> objects;
  for (auto at = by_name_.upper_bound(name); at != by_name_.end() && objects.size() < count; ++at)
    objects.push_back(at->second);
  return objects;
}

std::optional<std::vector<Store::Change>> Store::changes(Version version, std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  if (version < oldest_) return std::nullopt;
  std::vector<Change> changes;
  for (auto at = by_version_.upper_bound(version); at != by_version_.end() && changes.size() < count; ++at)
    changes.push_back(at->second);
  return changes;
}

Version Store::newest() const {
  const std::scoped_lock lock(mutex_);
  return newest_;
}

Version Store::oldest() const {
  const std::scoped_lock lock(mutex_);
  return oldest_;
}

Version Store::deleted_at(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = deleted_.find(name);
  return found == deleted_.end() ? 0 : found->second;
}

bool Store::wait(Version version, std::uint64_t watcher, std::function<void()> wake) {
  const std::scoped_lock lock(mutex_);
  if (newest_ > version || is_closed_) return false;
  waiting_[watcher] = std::move(wake);
  return true;
}

void Store::forget(std::uint64_t watcher) {
  const std::scoped_lock lock(mutex_);
  waiting_.erase(watcher);
}

void Store::close() {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  wake_all(std::move(lock));
}

void Store::wake_all(std::unique_lock<std::mutex> lock) {
  const Wakes waking = std::exchange(waiting_, {});
  lock.unlock();
  for (const auto& [watcher, wake] : waking) wake();
}

Store::Counters Store::counters() const {
  const std::scoped_lock lock(mutex_);
  return {by_name_.size(), deletions_.size(), bytes_, writes_};
}

}  // namespace koord::aggregated
