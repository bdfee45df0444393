// SPDX-License-Identifier: Apache-2.0
// PerNodeObjects: keeps one cluster-scoped object per node (NodeSLO, NodeMetric) at a wanted spec. It decides which
// object to create, replace or remove next. It writes only differences, and does not change metadata and status. If a
// different program keeps changing an object, it stops writing that object for a while (write_bounds.hpp). It removes
// an object without a node after a grace time. Pure: the time is passed in; object_writer.hpp sends the writes. [one
// thread]
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/manager/write_bounds.hpp"

namespace koord::manager {

class PerNodeObjects {
 public:
  struct Options {
    std::string api_version;  // "slo.koordinator.sh/v1alpha1"
    std::string kind;
    std::string manager = "koord-manager";            // our name in managedFields
    Duration orphan_grace = std::chrono::minutes(1);  // time from the removal of a node to the removal of its object
    WriteBounds::Limits bounds = {};
  };

  PerNodeObjects(Options options, std::uint64_t seed);

  // Sets the wanted spec (a JSON object) of the node's object. The node exists.
  Result<void> want(const std::string& node, std::string_view spec);
  void unwant(const std::string& node);

  // Takes the current object of the server, as JSON.
  Result<void> observe(Time now, const std::string& name, std::string_view object);
  void observe_removed(const std::string& name);

  struct Write {
    enum class Do : std::uint8_t { create, replace, remove };
    Do what = Do::create;
    std::string name;
    std::string object;  // for a removal, the body with the preconditions
  };
  // Returns the next write and marks it as running. Writes of different objects may run at the same time.
  std::optional<Write> next(Time now);
  // Returns when next() may return a write. Time::max(): not before something changes.
  Time due() const;

  enum class Outcome : std::uint8_t {
    done,
    changed,  // a different client was faster (409, 404); retry soon with the newer object
    failed,
  };
  // `stored`: the object in the server's response if the write is done; may be empty.
  void ended(Time now, const std::string& name, Outcome outcome, std::string_view stored = {});
  // Called when this replica no longer leads. After that, the new leader may change what this replica wrote. No write
  // may be running.
  void forget_writes();

  struct Counts {
    std::uint64_t created = 0, replaced = 0, removed = 0, changed = 0, failed = 0;
  };
  const Counts& counts() const { return counts_; }
  const WriteBounds& bounds() const { return bounds_; }
  std::size_t wanted() const { return wanted_; }

 private:
  struct Seen {
    std::string metadata;  // JSON
    std::string uid, version;
    boost::json::value spec;
    bool operator==(const Seen&) const = default;
  };
  struct One {
    explicit One(Backoff waits) : backoff(waits) {}

    std::optional<boost::json::value> wanted;
    std::optional<Seen> seen;
    // The spec that we wrote last, and the spec that the server stored, which may have additional defaults.
    std::optional<boost::json::value> written_spec, stored_spec;
    std::uint64_t stored_version = 0;
    std::optional<Time> orphan_since;
    std::optional<Write::Do> running;
    Backoff backoff;
    Time not_before = Time::min();
  };

  One& object_of(const std::string& name);
  void touch(const std::string& name, Time at);
  static Result<Seen> parse(std::string_view object);
  bool is_as_wanted(const One& object) const;
  std::optional<Write> write_of(const std::string& name, One& object) const;
  void take_stored(Time now, const std::string& name, One& object, std::string_view stored);
  Time ready_at(Time now, const std::string& name, One& object);

  const Options options_;
  RandomSource random_;
  WriteBounds bounds_;
  std::map<std::string, One> objects_;
  std::set<std::pair<Time, std::string>> queue_;  // objects by the time of the next check
  std::map<std::string, Time> queued_;
  std::size_t wanted_ = 0;
  Counts counts_;
};

}  // namespace koord::manager
