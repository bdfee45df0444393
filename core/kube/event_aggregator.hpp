// SPDX-License-Identifier: Apache-2.0
// EventAggregator: decides which Events are written, and when. Repetitions (same object, type, reason and message)
// within a window are one Event with a count: written once at first, then patched, seldom. Repetitions that are not
// written in time are counted, not queued. Bounded in number and in rate. Pure: the time is passed in; events.hpp sends
// them. [one thread]
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"

namespace koord::kube {

// The subject of an Event.
struct ObjectReference {
  std::string api_version;  // "v1"
  std::string kind;         // "Pod"
  std::string name_space;   // empty: of the cluster
  std::string name;
  std::string uid;

  bool operator==(const ObjectReference&) const = default;
};

struct EventInput {
  ObjectReference about;
  bool warning = false;
  std::string reason;   // "Evicted": one word in UpperCamelCase
  std::string message;  // for humans; cut after 1 KiB
};

class EventAggregator {
 public:
  struct Limits {
    std::size_t different = 256;                 // different events kept
    Duration window = std::chrono::minutes(10);  // without a repetition, after which the next occurrence is a new Event
    Duration patch_period = std::chrono::seconds(30);  // between patches of one Event
    std::uint32_t burst = 10;                          // requests at once,
    Duration refill = std::chrono::seconds(6);         // and one more in each of these
    Duration first_wait = std::chrono::seconds(10);    // after a failure, as in backoff.hpp
    Duration longest_wait = std::chrono::minutes(5);
  };

  struct Source {
    std::string component;  // "koordetector"
    std::string host;       // the node
  };

  EventAggregator(Source source, const Limits& limits, std::uint64_t seed);

  // `wall_ns`: what time it is for humans, since the Unix epoch.
  void add(EventInput input, Time now, std::int64_t wall_ns);

  // The next request, begun with this call; one at a time.
  struct Write {
    bool create = false;     // else a merge patch
    std::string name_space;  // where the Event is
    std::string name;
    std::string body;
  };
  std::optional<Write> next(Time now);
  // When next() may have one; Time::max(): when something is added, or the running one has ended.
  Time due(Time now) const;

  // Result of the running request. `exists`: it was created by an earlier request with a lost answer; `gone`: the Event
  // to patch does not exist any more; `refused`: that Event will not be written. `wait`: no request before that.
  enum class Outcome : std::uint8_t { written, exists, gone, refused, failed };
  void ended(Outcome outcome, Time now, Duration wait = Duration::zero());

  std::uint64_t dropped() const { return dropped_; }  // occurrences without an Event
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    EventInput input;
    std::string name;     // of the Event; empty: it was never tried to create it
    bool exists = false;  // as far as we know
    std::uint64_t count = 0, written = 0;
    std::int64_t first_wall_ns = 0, last_wall_ns = 0;
    Time last{};        // when it happened last
    Time not_before{};  // of its next request
  };
  using Entries = std::list<Entry>;  // the most recent is the last

  void expire(Time now);
  bool make_room();
  void forget(Entries::iterator entry);
  double tokens_at(Time now) const;
  Entries::iterator next_entry(Time now);
  std::string new_name(const Entry& entry);
  std::string event_json(const Entry& entry) const;

  Source source_;
  Limits limits_;
  Backoff backoff_;
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_key_;
  std::optional<Entries::iterator> running_;
  std::uint64_t running_count_ = 0;  // the count in the running request
  double tokens_;
  Time tokens_since_{};
  Time quiet_until_{};
  std::uint64_t dropped_ = 0;
};

}  // namespace koord::kube
