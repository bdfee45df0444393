// SPDX-License-Identifier: Apache-2.0
// The table of what is served: exact path and method to handler. Filled before the server starts, then only
// read.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/message.hpp"

namespace koord::http {

// Runs on a worker, several at a time; an exception is answered with 500.
using Handler = std::function<Response(const Request&)>;

inline constexpr std::size_t kDefaultMaxBody = 64 << 10;

struct Route {
  Handler handler;
  std::size_t max_body = kDefaultMaxBody;
};

class Routes {
 public:
  // GET, and HEAD which is answered with the same headers and no body.
  void get(std::string path, Handler handler);
  void post(std::string path, Handler handler, std::size_t max_body = kDefaultMaxBody);

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
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace koord::http
