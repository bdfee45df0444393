// SPDX-License-Identifier: Apache-2.0
#include "core/http/dispatch.hpp"

#include <atomic>
#include <exception>
#include <utility>

#include "core/http/gzip.hpp"

namespace koord::http {
namespace {

struct HeldRequest {
  HeldRequest(Request of, ByteShare share) : request(std::move(of)), memory(std::move(share)) {}
  const Request request;
  const ByteShare memory;
};

// Returns an answer with the text of the current exception. Call it only in a catch block.
Response answer_to_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return plain_text(500, std::string("the handler failed: ") + error.what());
  } catch (...) {
    return plain_text(500, "the handler failed");
  }
}

// Returns the answer of `handle`, or an answer with the text of its exception.
template <class Handle>
Response answered(const Handle& handle) {
  try {
    return handle();
  } catch (...) {
    return answer_to_exception();
  }
}

// Runs the handler. If it throws before it has answered, the exception becomes the answer. Only the first answer is
// sent.
void handle_slowly(const SlowHandler& handler, const Request& request, const Reply& send) {
  Reply reply = [send, answered = std::make_shared<std::atomic_flag>()](Response response) {
    if (!answered->test_and_set()) send(std::move(response));
  };
  try {
    handler(request, reply);
  } catch (...) {
    reply(answer_to_exception());
  }
}

bool is_encoded(const Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Content-Encoding") return true;
  }
  return false;
}

void compress(Response& response, const Request& request) {
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!accepts_gzip(request.header("Accept-Encoding").value_or(""))) return;
  auto packed = gzip(response.body);
  if (!packed) return;  // the plain body is sent
  response.body = std::move(packed).value();
  response.headers.emplace_back("Content-Encoding", "gzip");
}

// Returns the answer, compressed if it is large and the peer accepts gzip.
Response packed(const Limits& limits, Response response, const Request& request) {
  if (!response.shared_body && response.body.size() > limits.gzip_from_bytes && !is_encoded(response))
    compress(response, request);
  return response;
}

}  // namespace

Response answer_without_route(const Routes& routes, std::string_view path) {
  if (!routes.has_path(path)) return plain_text(404, "nothing is served at '" + std::string(path) + "'");
  std::string allowed = routes.allowed(path);
  Response response = plain_text(405, "'" + std::string(path) + "' is served for " + allowed);
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

Response handle(const Limits& limits, const Handler& handler, const Request& request) {
  return packed(limits, answered([&] { return handler(request); }), request);
}

void dispatch_request(std::shared_ptr<Service> service, const Route& route, Request request, ByteShare memory,
                      std::function<void(Response)> reply) {
  auto held = std::make_shared<const HeldRequest>(std::move(request), std::move(memory));
  const std::shared_ptr<const Request> shared(held, &held->request);
  // The task holds the service, and the route is part of it.
  auto task = [service, &route, shared, reply] {
    auto send = [service, shared, reply](Response response) {
      auto answer = std::make_shared<Response>(packed(service->limits, std::move(response), *shared));
      service->loop.post([reply, answer] { reply(std::move(*answer)); });
    };
    if (!route.slow) return send(answered([&] { return route.handler(*shared); }));
    handle_slowly(route.slow, *shared, send);
  };
  if (route.on_loop) return task();
  service->workers.post(std::move(task));
}

}  // namespace koord::http
