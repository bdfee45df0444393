// SPDX-License-Identifier: Apache-2.0
// Watch: the events of one watch, as lines of JSON. It is a position in the store (store.hpp), so its cost does not
// depend on the speed of its client. [loop thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/aggregated/call.hpp"
#include "core/aggregated/failure.hpp"
#include "core/aggregated/store.hpp"
#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/http/body_stream.hpp"

namespace koord::aggregated {

// Counts over all watches of a server. [any thread]
struct WatchCounters {
  std::atomic<std::uint64_t> open = 0, events = 0;
  std::atomic<std::uint64_t> slow = 0;     // ended, because the client read no event within Limits::write
  std::atomic<std::uint64_t> expired = 0;  // ended, because the store no longer has the deletions after its position
};

class Watch final : public http::BodyStream {
 public:
  struct Parts {
    Store& store;
    const Clock& clock;
    WatchCounters& counters;
    event::Loop* loop = nullptr;  // for timers of bookmarks and the end; null: the caller polls
    Duration bookmark_period = std::chrono::seconds(60);
  };

  // `from`: send only later events; nullopt: begin with the existing objects. `client`: the name for the log.
  Watch(Parts parts, Call call, std::optional<Version> from, std::string client);
  ~Watch() override;

  Piece next(const std::function<void()>& wake) override;
  void on_slow_peer() override;

 private:
  Piece initial();
  // Returns the next selected change; nullopt if no change is selected.
  std::optional<Piece> change();
  std::optional<Piece> event_of(const Store::Change& change);
  Piece event(std::string_view type, const ObjectPtr& object);
  std::optional<Piece> deletion(const Store::Change& change, bool was_known, bool labels_changed);
  Piece bookmark(bool ends_initial);
  Piece expire();
  Piece give_up(const Object& object, const Error& error);
  Piece last_event(const Failure& failure);
  Piece end();
  bool selects(const Object& object) const;

  const Parts parts_;
  Call call_;
  const std::string client_;
  const std::uint64_t id_;
  bool is_initial_ = false, has_ended_ = false, has_columns_ = false;
  Version at_ = 0;  // all changes up to this version are sent
  std::string initial_name_;
  // The client has each object at the version that was current at known_. For objects that were sent later because they
  // are new or their labels changed, sent_ has their versions; its key is the name. Both are reset whenever all objects
  // are sent.
  Version known_ = 0;
  std::map<std::string, Version, std::less<>> sent_;
  Time ends_, next_bookmark_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::aggregated
