// SPDX-License-Identifier: Apache-2.0
#include "core/http/dispatch.hpp"

#include <exception>
#include <utility>

#include "core/http/gzip.hpp"

namespace koord::http {
namespace {

Response run(const Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    return plain_text(500, std::string("the handler failed: ") + error.what());
  } catch (...) {
    return plain_text(500, "the handler failed");
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
  if (!packed) return;  // the plain body is an answer as well
  response.body = std::move(packed).value();
  response.headers.emplace_back("Content-Encoding", "gzip");
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
  Response response = run(handler, request);
  if (response.body.size() > limits.gzip_from_bytes && !is_encoded(response)) compress(response, request);
  return response;
}

void handle_on_worker(std::shared_ptr<Service> service, const Route& route, Request request,
                      std::function<void(Response)> reply) {
  auto shared = std::make_shared<const Request>(std::move(request));
  event::WorkerPool& workers = service->workers;
  // The route lives in the service, which the task keeps.
  workers.post([service = std::move(service), &route, shared = std::move(shared), reply = std::move(reply)] {
    auto response = std::make_shared<Response>(handle(service->limits, route.handler, *shared));
    service->loop.post([reply, response] { reply(std::move(*response)); });
  });
}

}  // namespace koord::http
