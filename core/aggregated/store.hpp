// SPDX-License-Identifier: Apache-2.0
// Store: all NodeMetric objects of one epoch, in memory. It has no log of events, but an index by version. The index
// contains each object once, at its newest version, and recently deleted objects. A watcher is a position in this
// index. So a watcher that lags skips replaced versions, needs no memory, and can resume at any version of the epoch.
// [any thread]
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregated/object.hpp"
#include "core/aggregated/recent_texts.hpp"
#include "core/aggregated/version.hpp"

namespace koord::aggregated {

struct StoreLimits {
  std::size_t objects = 20'000;
  std::size_t deleted = 1024;  // deletions kept; a watcher at an earlier position must restart
};

class Store {
 public:
  enum class Put : std::uint8_t { done, raced, full, out_of_versions };

  // An object with its newest version, or with the version of its deletion.
  struct Change {
    ObjectPtr object;
    bool is_deleted = false;
  };

  struct Counters {
    std::size_t objects = 0, deleted = 0, bytes = 0;  // bytes: total size of the whole texts
    std::uint64_t writes = 0;
  };

  // Versions of this store are greater than `first`. See first_version().
  explicit Store(Version first, StoreLimits limits = {});

  // Replaces `expected` by the object and assigns its version. `expected` is null for a new object. Returns `raced`
  // without a change if a different write has replaced `expected`.
  Put put(const std::shared_ptr<Object>& object, const ObjectPtr& expected);
  // Removes the object. Returns it with the version of its deletion; null if `expected` is not the newest version, or
  // no version is available.
  ObjectPtr remove(const ObjectPtr& expected);

  ObjectPtr find(std::string_view name) const;
  // Returns the object with its text. Texts of the newest versions are cached.
  Result<PlainObject> plain(const ObjectPtr& object) const { return texts_.plain(object); }
  // Returns the first `count` objects after this name, sorted by name.
  std::vector<ObjectPtr> behind(std::string_view name, std::size_t count) const;
  // Returns the first `count` changes after this version; nullopt if the index no longer contains all of them.
  std::optional<std::vector<Change>> changes(Version version, std::size_t count) const;

  // Limits versions to `most`, because the next epoch begins above it. Initially unlimited.
  void reserve(Version most) { most_ = most; }
  bool has_versions() const { return newest() < most_; }

  Version newest() const;
  // Returns the oldest version at which reads and watches may begin.
  Version oldest() const;
  // Returns the version of the name's last deletion, which is part of the next uid.
  Version deleted_at(std::string_view name) const;

  // Calls `wake` once, on any thread, at the next write or at close(). Returns false without a call if changes after
  // `version` already exist.
  bool wait(Version version, std::uint64_t watcher, std::function<void()> wake);
  void forget(std::uint64_t watcher);

  // After a start the first reports fill the store. Until begin_serving(), reads and watches are refused, because
  // clients would take missing objects for deleted ones.
  void begin_serving() { is_serving_ = true; }
  bool is_serving() const { return is_serving_ && !is_closed_; }
  // Ends all watches, and refuses all writes, because the server is no longer the leader.
  void close();
  bool is_closed() const { return is_closed_; }

  Counters counters() const;

 private:
  using Wakes = std::map<std::uint64_t, std::function<void()>>;

  Version next_version() { return ++newest_; }
  void drop_oldest_deleted();
  void wake_all(std::unique_lock<std::mutex> lock);

  const StoreLimits limits_;
  std::atomic<bool> is_serving_ = false, is_closed_ = false;
  std::atomic<Version> most_ = kMostVersion;
  mutable std::mutex mutex_;
  Version oldest_, newest_;
  std::map<std::string, ObjectPtr, std::less<>> by_name_;
  std::map<Version, Change> by_version_;
  std::map<std::string, Version, std::less<>> deleted_;  // key: name; value: version of its last deletion
  std::map<Version, std::string> deletions_;             // the same, with the version as key
  Wakes waiting_;
  mutable RecentTexts texts_;  // has its own mutex
  std::size_t bytes_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace koord::aggregated
