// SPDX-License-Identifier: Apache-2.0
// Store: the standing verdicts of all plugins, and those that have ended, in memory and bounded for each plugin: many
// verdicts of one do not displace those of others. Times are passed in. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/verdict/record.hpp"

namespace koord::verdict {

using RecordPtr = std::shared_ptr<const Record>;  // never null

// Limits of one plugin.
struct Limits {
  std::size_t standing = 0, standing_bytes = 0;
  std::size_t ended = 0, ended_bytes = 0;  // the oldest go first
};
inline constexpr Limits kOwnLimits{4096, 4u << 20, 1000, 1u << 20};
inline constexpr std::size_t kMaxStandingBytes = 8u << 20;  // of all plugins together
inline constexpr Limits kThirdPartyLimits{256, 256u << 10, 250, 256u << 10};

// A plugin that posts. Each of its sessions has another number: it may be restarted, and run twice at a time while one
// replaces the other.
struct Source {
  std::string plugin;
  Origin origin = Origin::third_party;
  std::uint64_t session = 0;
};

// The standing verdicts at one moment, in the order of their ids.
struct CurrentVerdicts {
  std::uint64_t generation = 1;
  std::uint64_t version = 1;  // grows with values, too
  std::vector<RecordPtr> records;
};

struct Query {
  std::optional<std::uint64_t> victim;
  std::optional<Resource> resource;
  std::optional<Kind> kind;
  std::optional<Time> from;  // that stood at this time or later
  std::optional<Time> to;    // that began at this time or before
  std::size_t most = SIZE_MAX;
};

class Store {
 public:
  // Called after a change of the generation, in the thread that made it, one at a time. It may read the store, and must
  // not change it.
  using OnChange = std::function<void(std::uint64_t generation)>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Adds these, and replaces those that stand for the same key by this plugin. All or nothing: an error, with the code
  // of resource_unavailable_try_again, beyond the plugin's limits or that of all.
  Result<void> post(Time now, const Source& source, std::vector<Record> records);
  // False: none stands.
  bool end(Time now, std::string_view plugin, const Key& key, std::string why);
  // Return how many ended.
  // Those that this session posted last.
  std::size_t end_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why);
  // The same for a session of a plugin that may still run: its posts are refused from now on, with the code of
  // operation_canceled, until end_session().
  std::size_t close_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why);
  std::size_t end_all_about(Time now, std::uint64_t victim, std::string_view why);
  // Ends those that were not posted again within their ttl.
  std::size_t expire(Time now);

  // Never null. It may contain verdicts that expire() has not ended yet.
  std::shared_ptr<const CurrentVerdicts> standing() const;
  // Standing and ended ones that the query takes, the newest id first.
  std::vector<RecordPtr> history(const Query& query = {}) const;
  // Grows when a verdict begins, ends, or has another method or other suspects. Never 0.
  std::uint64_t generation() const;
  // Since the start.
  std::uint64_t posted() const;

  // After remove() returns, the callback is not running and will not run. Not from within a callback.
  std::uint64_t subscribe(OnChange on_change);
  void remove(std::uint64_t subscription);

 private:
  struct OfPlugin {
    std::map<Key, RecordPtr> standing;
    std::size_t standing_bytes = 0;
    std::deque<RecordPtr> ended;
    std::size_t ended_bytes = 0;
  };
  using Plugins = std::map<std::string, OfPlugin, std::less<>>;

  // Ends those standing ones that `matches` takes.
  template <class Matches>
  std::size_t end_matching(Time now, std::string_view why, const Matches& matches);
  std::size_t end_of_session(Time now, std::string_view plugin, std::uint64_t session, std::string_view why);
  // [with the lock held]
  Result<void> check_limits(const OfPlugin& of_plugin, const Source& source, const std::vector<Record>& records) const;
  void count(OfPlugin& of_plugin, const Record& record);
  void uncount(OfPlugin& of_plugin, const Record& record);
  void end_one(Time now, OfPlugin& of_plugin, const RecordPtr& record, std::string why);
  void keep_ended(OfPlugin& of_plugin, RecordPtr ended);
  bool replace(OfPlugin& of_plugin, std::shared_ptr<Record> record);
  void outdate();

  void notify(bool changed);

  mutable std::mutex mutex_;  // of what follows
  Plugins plugins_;
  std::set<std::uint64_t> closed_sessions_;
  std::size_t standing_bytes_ = 0;  // of all plugins
  std::uint64_t last_id_ = 0, generation_ = 1, version_ = 1, posted_ = 0;
  mutable std::shared_ptr<const CurrentVerdicts> standing_;  // null: computed when it is requested

  std::mutex subscribers_mutex_;  // of what follows; held while they are called
  std::map<std::uint64_t, OnChange> subscribers_;
  std::uint64_t last_subscription_ = 0;
};

}  // namespace koord::verdict
