// SPDX-License-Identifier: Apache-2.0
// Store: all NodeMetric objects of one epoch, in memory. An index by version takes the place of a log of events: each
// object stands in it once, at its newest version, and deleted ones for a while. A watcher is a position in that index.
// So a watcher that is behind skips versions that are already replaced, costs no memory, and can resume at any version
// of the epoch. [any thread]
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
  std::size_t deleted = 1024;  // a watcher that is further behind than the oldest of them begins again
};

class Store {
 public:
  enum class Put : std::uint8_t { done, raced, full, out_of_versions };

  // The object at its newest version, or at the version of its deletion.
  struct Change {
    ObjectPtr object;
    bool is_deleted = false;
  };

  struct Counters {
    std::size_t objects = 0, deleted = 0, bytes = 0;  // bytes: of the whole texts
    std::uint64_t writes = 0;
  };

  // Its versions are greater than `first`. See first_version().
  explicit Store(Version first, StoreLimits limits = {});

  // Stores the object in place of `expected`, which is null for a new one, and gives it its version. raced: another
  // write came between, and nothing is stored.
  Put put(const std::shared_ptr<Object>& object, const ObjectPtr& expected);
  // Returns the object with the version of its deletion; null: `expected` is not the newest, or there is no version.
  ObjectPtr remove(const ObjectPtr& expected);

  ObjectPtr find(std::string_view name) const;
  // The object with its text. Texts of the newest versions are kept.
  Result<PlainObject> plain(const ObjectPtr& object) const { return texts_.plain(object); }
  // The first `count` objects behind this name, in the order of names.
  std::vector<ObjectPtr> behind(std::string_view name, std::size_t count) const;
  // The first `count` changes behind this version. nullopt: the index no longer reaches back to it.
  std::optional<std::vector<Change>> changes(Version version, std::size_t count) const;

  // Gives out no versions above `most`: the next epoch begins above it. At first without a bound.
  void reserve(Version most) { most_ = most; }
  bool has_versions() const { return newest() < most_; }

  Version newest() const;
  // Reads and watches may begin here, or later.
  Version oldest() const;
  // Changes with each deletion of the name: part of the next uid.
  Version deleted_at(std::string_view name) const;

  // Calls `wake` once, on any thread: at the next write, or at close(). False, and no call: there are changes behind
  // `version` already.
  bool wait(Version version, std::uint64_t watcher, std::function<void()> wake);
  void forget(std::uint64_t watcher);

  // After a start the objects come with the first reports. Until begin_serving(), reads and watches are refused:
  // clients would take missing objects for deleted ones.
  void begin_serving() { is_serving_ = true; }
  bool is_serving() const { return is_serving_ && !is_closed_; }
  // Ends all watches, and refuses all writes. For a server that is no longer the leader.
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
  std::map<std::string, Version, std::less<>> deleted_;  // by name: its last deletion
  std::map<Version, std::string> deletions_;             // the same by version
  Wakes waiting_;
  mutable RecentTexts texts_;  // has a mutex of its own
  std::size_t bytes_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace koord::aggregated
