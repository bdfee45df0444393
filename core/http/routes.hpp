// SPDX-License-Identifier: Apache-2.0
// The table of routes: path and method to handler. Filled before the server starts, then only
// read.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/message.hpp"

namespace koord::http {

// Runs on a worker, several at a time; an exception is answered with 500.
using Handler = std::function<Response(const Request&)>;

// Returns at once; `reply` is called once, on any thread, when the answer is there. For what waits for the loop or for
// other threads. An exception before that is answered with 500.
using Reply = std::function<void(Response)>;
using SlowHandler = std::function<void(const Request&, Reply reply)>;

// Decides for each request of a route whether its handler gets it, before the body is read: the request has none yet,
// and a refused client costs no memory for it. Runs on the loop; calls `decide` once, on the loop, perhaps before it
// returns: nullopt passes the request on, anything else is the answer. The request is valid until then.
using Decide = std::function<void(std::optional<Response>)>;
using Guard = std::function<void(Request&, Decide decide)>;

inline constexpr std::size_t kDefaultMaxBody = 64 << 10;

// One of the two.
struct Route {
  Handler handler = {};
  std::size_t max_body = kDefaultMaxBody;
  SlowHandler slow = {};
  bool on_loop = false;  // runs on the loop, not on a worker
  Guard guard = {};      // instead of that of all routes

  bool served() const { return handler || slow; }
};

// Returns the text at the part in braces: ("/plugins/{id}/reload", "/plugins/x/reload") is "x". nullopt: another path.
std::optional<std::string_view> part_of_path(std::string_view pattern, std::string_view path);

class Routes {
 public:
  // GET, and HEAD which is answered with the same headers and no body.
  void get(std::string path, Handler handler);
  // The same, answered later.
  void get_slow(std::string path, SlowHandler handler);
  // The same on the loop, also while all workers are busy: `handler` returns at once.
  void get_now(std::string path, SlowHandler handler);
  void post(std::string path, Handler handler, std::size_t max_body = kDefaultMaxBody);
  // `pattern`: a path with one part in braces, which stands for any text without '/'.
  void post_slow(std::string pattern, SlowHandler handler, std::size_t max_body = kDefaultMaxBody);

  // For all routes without a guard of their own.
  void set_guard(Guard guard) { guard_ = std::move(guard); }
  const Guard& guard() const { return guard_; }

  // All methods at all paths that begin with `prefix` and have no route of their own.
  void all_below(std::string prefix, SlowHandler handler, std::size_t max_body = kDefaultMaxBody, Guard guard = {});
  // The same on the loop, also while all workers are busy: `handler` returns at once. The first prefix that a path
  // begins with counts.
  void all_below_now(std::string prefix, SlowHandler handler);

  bool has_path(std::string_view path) const;
  const Route* find(Method method, std::string_view path) const;
  // The methods of a path, as the header Allow wants them: "GET, HEAD".
  std::string allowed(std::string_view path) const;
  std::vector<std::string> paths() const;

 private:
  struct Entry {
    Route get;
    Route post;
  };
  const Entry* entry_of(std::string_view path) const;
  const Route* route_below(std::string_view path) const;
  std::map<std::string, Entry, std::less<>> entries_;
  Guard guard_;
  std::vector<std::pair<std::string, Route>> below_;
};

}  // namespace koord::http
