// SPDX-License-Identifier: Apache-2.0
// From a request to its answer: the handler's run, compression included, and the answers that need no handler.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/base/byte_budget.hpp"
#include "core/http/connection.hpp"
#include "core/http/message.hpp"
#include "core/http/routes.hpp"

namespace koord::http {

// 405 with the methods that the path has, or 404.
Response answer_without_route(const Routes& routes, std::string_view path);

// [worker] Runs the handler; what it throws becomes 500. Compresses a large answer for a peer that takes it.
Response handle(const Limits& limits, const Handler& handler, const Request& request);

// [loop] Handles the request on a worker, or on the loop where the route says so, then calls `reply` on the loop.
// `memory` ends with the request.
void dispatch_request(std::shared_ptr<Service> service, const Route& route, Request request, ByteShare memory,
                      std::function<void(Response)> reply);

}  // namespace koord::http
