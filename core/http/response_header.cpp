// SPDX-License-Identifier: Apache-2.0
#include "core/http/response_header.hpp"

#include <boost/beast/http/status.hpp>
#include <cstdio>
#include <ostream>  // not included by the header above

namespace koord::http {
namespace {

std::string_view reason(unsigned status) {
  namespace wire = boost::beast::http;
  auto text = wire::obsolete_reason(wire::int_to_status(status));
  return {text.data(), text.size()};
}

void append(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string chunk_header(std::size_t bytes) {
  char text[2 * sizeof bytes + 3];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%zx\r\n", bytes))};
}

std::string response_header(const Response& response, bool keep_alive) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
  text.append(reason(response.status)).append("\r\n");
  append(text, "Content-Type", response.content_type);
  append(text, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) append(text, name, value);
  if (!keep_alive) append(text, "Connection", "close");
  if (response.stream)
    append(text, "Transfer-Encoding", "chunked");
  else
    append(text, "Content-Length", std::to_string(response.body_size()));
  return text + "\r\n";
}

}  // namespace koord::http
