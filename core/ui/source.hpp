// SPDX-License-Identifier: Apache-2.0
// Source: the agent that a page shows, here or in a pod. [any thread, several requests at a time]
#pragma once

#include <sys/eventfd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/http/client.hpp"

namespace koord::ui {

// Both below the server's own limit for a handler.
inline constexpr Duration kAgentPatience = std::chrono::seconds(25), kSqlPatience = std::chrono::seconds(20);

class Source {
 public:
  virtual ~Source() = default;

  // Returns the agent's answer of any status to GET `target`. Fails if none came within kAgentPatience.
  virtual Result<http::ClientResponse> get(const std::string& target) = 0;

  // Returns the rows of a SELECT over the metric cache's file as sql_json() prints them, or status 400 and the reason
  // as plain text. Fails if the statement did not get there.
  virtual Result<http::ClientResponse> sql(const std::string& statement, std::size_t max_rows) = 0;

  // Ends requests in flight with an error, and all later ones.
  void close() { ::eventfd_write(closed_.get(), 1); }

 protected:
  // Becomes readable with close().
  int closed_fd() const { return closed_.get(); }

 private:
  const UniqueFd closed_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// `socket`: of an agent on this machine; `database`: its metric cache's file.
std::unique_ptr<Source> local_source(std::string socket, std::string database);

}  // namespace koord::ui
