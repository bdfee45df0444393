// SPDX-License-Identifier: Apache-2.0
// A request to the aggregated API: the first byte is the method; then follow a line with the target, a line with the
// header Accept, a line with the content type, and the body. It is sent twice, so writes also find an existing object.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/aggregated/api.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/object_name.hpp"
#include "core/base/parse.hpp"
#include "core/http/url.hpp"
#include "core/json/reader.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

std::string body_of(const http::Response& response) {
  if (!response.stream) return response.body;
  std::string text;
  while (true) {
    const auto piece = response.stream->next([] {});
    if (piece.state != http::BodyStream::State::piece) return text;
    text += piece.head;
    if (piece.body) text += *piece.body;
  }
}

std::string take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string line(rest.substr(0, end));
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  http::Request request;
  request.method = static_cast<http::Method>(data[0] % 6);
  rest.remove_prefix(1);
  auto target = http::parse_target(take_line(rest));
  if (!target) return 0;
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.headers.emplace_back("Accept", take_line(rest));
  request.headers.emplace_back("Content-Type", take_line(rest));
  request.body = rest;

  ManualClock clock;
  aggregated::Store store(aggregated::kLeastVersion);
  store.begin_serving();
  aggregated::Api api(store, clock);
  const aggregated::Identity node{.user = "system:node:a"};
  (void)aggregated::Api::attributes_of(request);
  for (int i = 0; i < 2; ++i) {
    const http::Response response = api.answer(request, i == 0 ? aggregated::Identity() : node);
    const std::string body = body_of(response);
    // Every answer except watches and the protobuf document is one JSON text.
    if (response.content_type == http::kJson && !response.stream && !body.empty()) check(read_json(body).has_value());
  }
  for (const aggregated::ObjectPtr& object : store.behind("", 10)) {
    check(is_dns_subdomain(object->name()));
    const auto text = object->json();
    check(text.has_value() && read_json_object(*text).has_value());
  }
  return 0;
}
