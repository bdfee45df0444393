// SPDX-License-Identifier: Apache-2.0
#include "core/http/message.hpp"

#include <strings.h>

#include "core/http/client.hpp"

namespace koord::http {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string_view> find_header(const Headers& headers, std::string_view name) {
  for (const auto& [header, value] : headers) {
    if (same_name(header, name)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const { return find_header(headers, name); }

std::optional<std::string_view> ClientResponse::header(std::string_view name) const {
  return find_header(headers, name);
}

Response plain_text(unsigned status, std::string_view text) {
  Response response;
  response.status = status;
  response.body = std::string(text) + "\n";
  return response;
}

}  // namespace koord::http
