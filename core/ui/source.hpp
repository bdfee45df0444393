// SPDX-License-Identifier: Apache-2.0
// Source: the agent that a page shows, on this machine or in a pod. [any thread, several requests at a time]
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

// Time limits of requests. Both are below the server's limit for a handler.
inline constexpr Duration kAgentPatience = std::chrono::seconds(25), kSqlPatience = std::chrono::seconds(20);

class Source {
 public:
  virtual ~Source() = default;

  // Returns the agent's response to GET `target`, with any status. Fails without a response within kAgentPatience.
  virtual Result<http::ClientResponse> get(const std::string& target) = 0;

  // Returns the rows of a SELECT on the file of the metric cache in the form of sql_json(), or status 400 and the
  // reason as plain text. Fails if the statement could not be sent.
  virtual Result<http::ClientResponse> sql(const std::string& statement, std::size_t max_rows) = 0;

  // Ends requests in flight, and all later requests, with an error.
  void close() { ::eventfd_write(closed_.get(), 1); }

 protected:
  // Becomes readable with close().
  int closed_fd() const { return closed_.get(); }

 private:
  const UniqueFd closed_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// `socket`: the socket of an agent on this machine; `database`: the file of its metric cache.
std::unique_ptr<Source> local_source(std::string socket, std::string database);

}  // namespace koord::ui
