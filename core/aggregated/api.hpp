// SPDX-License-Identifier: Apache-2.0
// Api: answers a request of an identified client. It does not authenticate, and calls no other server; see handler.hpp.
// A client that is bound to a node may write only that node's object. [any thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/aggregated/call.hpp"
#include "core/aggregated/identity.hpp"
#include "core/aggregated/store.hpp"
#include "core/aggregated/watch.hpp"
#include "core/aggregated/writing.hpp"
#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/http/message.hpp"
#include "core/log/rate_limit.hpp"

namespace koord::aggregated {

// The attributes of a request, as in a SubjectAccessReview.
struct Attributes {
  bool is_resource = false;  // false: only `verb` and `path`
  std::string verb, path;
  std::string resource, subresource, name;
};

// [any thread]
struct ApiCounters {
  std::atomic<std::uint64_t> reports = 0;  // stored updates of a status
  std::atomic<std::uint64_t> conflicts = 0, invalid = 0;
  std::atomic<std::uint64_t> other_nodes = 0;  // refused writes of another node's object
  WatchCounters watches;
};

struct ApiOptions {
  // The user of all agents, "system:serviceaccount:NAMESPACE:NAME". If its token has no node name, the user may not
  // write at all. Empty: not checked.
  std::string agent_user = {};
  // Counters that several successive Apis share; null: not shared.
  std::shared_ptr<ApiCounters> counters = nullptr;
  // Called with each stored report. May be empty. [any thread]
  std::function<void(const PlainObject&)> on_report = {};
  CompleteStatus complete_status = {};  // see Writing
};

class Api {
 public:
  using Counters = ApiCounters;

  // `loop`: see Watch. Store, clock and loop must outlive this object and its responses.
  Api(Store& store, const Clock& clock, event::Loop* loop = nullptr, ApiOptions options = {});

  http::Response answer(const http::Request& request, const Identity& identity);
  // Returns the attributes by which a request is authorized. Fails if it cannot be a request to the resource: then it
  // is refused without asking for a decision.
  static Outcome<Attributes> attributes_of(const http::Request& request);
  // Returns whether the path needs no authentication: health and version.
  static bool is_open_path(std::string_view path);

  const Counters& counters() const { return *counters_; }

 private:
  Outcome<http::Response> answer_call(const http::Request& request, const Identity& identity);
  std::optional<Failure> limit_to_node(Call& call, const Identity& identity);
  void note_refusal(const Call& call, const Identity& identity, std::string_view why);
  Outcome<http::Response> read(Call call, const Identity& identity);
  Outcome<Version> version_for(const Call& call) const;
  Outcome<http::Response> write(const Call& call, const http::Request& request, const Identity& identity);
  Outcome<Written> store(const Call& call, const http::Request& request, std::string_view body);
  void pass_report(const ObjectPtr& object);
  std::optional<http::Response> answer_health(std::string_view path) const;

  Store& store_;
  const Clock& clock_;
  event::Loop* const loop_;
  const ApiOptions options_;
  Writing writing_;
  const std::shared_ptr<Counters> counters_;
  log::RateLimit audit_lines_{100, std::chrono::minutes(1)};
};

}  // namespace koord::aggregated
