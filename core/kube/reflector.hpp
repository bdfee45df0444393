// SPDX-License-Identifier: Apache-2.0
// Reflector: the state machine of one list and watch of the API server: which request to send next, and when. It lists
// page by page, watches from the list's version, goes on from the newest version when a watch ends, and lists again
// when that version has expired. Failed requests are repeated with growing random delays, or at once when the server
// answers again (server_health.hpp). Pure: no I/O, the time is passed in; list_watch.hpp runs one. The semantics are
// those of Kubernetes' API concepts: resourceVersion, bookmarks, chunks, 410 Gone. [one thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/kube/client.hpp"
#include "core/kube/object.hpp"

namespace koord::kube {

// The objects to list and watch.
struct Collection {
  std::string path;  // "/api/v1/nodes", "/apis/slo.koordinator.sh/v1alpha1/nodeslos", "/api/v1/namespaces/a/configmaps"
  std::string field_selector;  // "metadata.name=a"; empty: all
  std::string label_selector;
  std::uint32_t page = 500;  // objects in one answer
  // Lists ask for the newest state, which costs the server more and comes in pages. Else for what it has at hand, which
  // many servers answer in one piece, whatever `page` says: for collections that are small.
  bool newest = false;
};

// How it stands with a collection.
struct Health {
  enum class State : std::uint8_t {
    starting,   // never listed yet
    current,    // listed, and a watch reports changes
    failing,    // known objects get old; the request is repeated
    forbidden,  // we may not; tried again every five minutes
    absent,     // the server does not know the kind; looked for again every five minutes
  };

  State state = State::starting;
  Time since{};                        // of the state
  std::optional<Time> last_confirmed;  // when the server last confirmed the objects
  std::string problem;                 // one line; empty: none
  std::string left_out;                // objects that are too large, one line; empty: none. They stay as they were
  std::uint64_t lists = 0, watches = 0, failures = 0;  // begun, begun, all kinds
};

std::string_view name_of(Health::State state);  // "current"

struct ReflectorOptions {
  Duration first_wait = std::chrono::seconds(10);  // after the first failure: anything up to it
  Duration longest_wait = std::chrono::minutes(2);
  Duration rare = std::chrono::minutes(5);             // between looks at what is forbidden or absent
  Duration watch_at_least = std::chrono::minutes(10);  // how long the server is asked to keep a watch, up to twice that
  std::size_t max_bytes = 64u << 20;                   // of one answer
  std::uint32_t max_pages = 1000;                      // of one list
};

class Reflector {
 public:
  Reflector(Collection collection, const ReflectorOptions& options, Time now, std::uint64_t seed);

  // The next step. `list` and `watch` begin with this call, and the caller passes the result to one of the functions
  // below; meanwhile and before `at` the answer is `wait`.
  struct Step {
    enum class Do : std::uint8_t { wait, list, watch };
    Do what = Do::wait;
    Time at{};  // of wait: not before; Time::max(): something runs
  };
  Step next(Time now);
  Call call() const;  // of the step begun last

  // A page of the list came: is it the first and the last of those that together are everything? nullopt: the answer
  // was none, and counts as a failure.
  struct Page {
    bool first = false, last = false;
  };
  std::optional<Page> listed(Time now, const Result<ListPage>& page);
  // The list was answered otherwise, or not at all.
  void list_failed(Time now, const Result<Reply>& reply);

  // A watch's line.
  struct Line {
    std::optional<WatchEvent> change;  // added, modified or deleted
    bool ends = false;                 // end the watch, without a call of watch_ended()
    std::optional<LargeObject> too_large = std::nullopt;
  };
  Line line(Time now, std::string_view line);
  // A watch's line that is longer than an object may be: its beginning, and its size. Its object is left out, only a
  // deletion counts.
  Line long_line(Time now, std::string_view head, std::size_t bytes);
  // The server has taken the watch. After a failure of the server the collection is current again; a watch that was cut
  // short has to last or to bring something first.
  void watch_begun(Time now);
  void watch_ended(Time now, const Result<Reply>& reply);

  // It waits because the server gave no answer, was busy, or answered as one that has just started. Not before this
  // time, which the server asked for; nullopt: it waits for another reason, or not at all.
  std::optional<Time> waits_for_server() const;
  // Tries now what waits for the server; its back-off stays as it is.
  void try_again(Time now);
  // The server answers again: waiting requests go on within `spread`, and the back-off restarts.
  void server_answers(Time now, Duration spread);
  // The request that runs has never left: send it again, with next().
  void begin_again(Time now);

  // The caller cannot keep the objects, for the reason in `problem`: everything is listed again, after a long while.
  // The running request must be ended.
  void reject(Time now, std::string problem);

  void set_left_out(std::string text) { health_.left_out = std::move(text); }

  const Health& health() const { return health_; }
  const Collection& collection() const { return collection_; }

 private:
  enum class Phase : std::uint8_t { list, watch };
  enum class Cause : std::uint8_t { none, server, other };  // of the wait

  void set_state(Time now, Health::State state, std::string problem);
  void wait_until(Time at, Phase phase);
  Time rarely(Time now);
  void fail(Time now, Phase again, std::string problem, Cause cause, Duration at_least = Duration::zero());
  void fail_for(Time now, Phase again, std::string problem, Duration wait);
  void forbidden(Time now, std::string problem);
  void refused(Time now, Phase again, const Status& status);
  void expired(Time now, std::string problem);
  void unknown_kind(Time now, std::string problem);
  void settle(Time now);
  void be_current(Time now);
  void confirm(Time now, const std::string& version);

  Collection collection_;
  ReflectorOptions options_;
  Backoff backoff_;
  Health health_;

  Phase phase_ = Phase::list;  // of what runs, or comes next
  bool running_ = false;
  Time not_before_;
  std::string version_;       // the newest heard of; empty: none
  std::string continuation_;  // of the list that is under way
  std::uint32_t pages_ = 0;
  bool consistent_ = false;   // the next list asks for the newest state, not for what the server has at hand
  bool kind_exists_ = false;  // it has been listed
  std::optional<Time> missing_since_;
  std::optional<Time> forbidden_since_;
  Cause cause_ = Cause::none;
  Time asked_until_{};           // by the server
  bool expired_before_ = false;  // and nothing has gone well since
  bool watch_forbidden_ = false;

  Time watch_began_{};
  Duration watch_for_{};
  bool was_begun_ = false;           // the server has taken this watch
  std::uint32_t short_watches_ = 0;  // broken off at once, in a row
  bool heard_ = false;               // this watch has brought a line
  bool settled_ = false;             // this watch goes well
  bool has_settled_ = false;         // some watch went well
};

}  // namespace koord::kube
