// SPDX-License-Identifier: Apache-2.0
// An Api with its store and a clock that the test sets. Shortens requests, and reads answers as JSON.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "core/aggregated/api.hpp"
#include "core/aggregated/names.hpp"
#include "core/base/manual_clock.hpp"
#include "core/http/url.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::test {

inline constexpr std::string_view kNodeMetrics = "/apis/metrics.koordetector.sh/v1alpha1/nodemetrics";
inline constexpr aggregated::Version kEpoch = 1'700'000'000'000'000;

inline std::string node_metric(const std::string& name, const std::string& status, const std::string& spec = "{}",
                               const std::string& metadata = {}) {
  return R"({"kind":"NodeMetric","apiVersion":"metrics.koordetector.sh/v1alpha1","metadata":{"name":")" + name + "\"" +
         (metadata.empty() ? "" : "," + metadata) + R"(},"spec":)" + spec + R"(,"status":)" + status + "}";
}

inline std::string usage_status(int milli_cores) {
  return R"({"updateTime":"2026-01-02T03:04:05Z","nodeMetric":{"nodeUsage":{"resources":{"cpu":")" +
         std::to_string(milli_cores) + R"(m","memory":"1Gi"}}}})";
}

inline boost::json::value json_of(std::string_view text) { return read_json(text).value(); }

// Returns all pieces that are available without waiting.
inline std::string drain(http::BodyStream& stream) {
  std::string text;
  while (true) {
    const auto piece = stream.next([] {});
    if (piece.state != http::BodyStream::State::piece) return text;
    text += piece.head;
    if (piece.body) text += *piece.body;
  }
}

struct ApiFixture {
  ManualClock clock;
  aggregated::Store store{kEpoch};
  aggregated::Api api{store, clock};
  aggregated::Identity identity{.user = "admin"};

  ApiFixture() { store.begin_serving(); }

  // `target`: the text after the path of the resource; begins with '?' or '/'.
  http::Response send(http::Method method, const std::string& target, std::string body = {},
                      http::Headers headers = {}) {
    const bool is_whole = target.starts_with("/apis") || target.starts_with("/openapi");
    auto parsed = http::parse_target(is_whole ? target : std::string(kNodeMetrics) + target).value();
    http::Request request;
    request.method = method;
    request.path = std::move(parsed.path);
    request.query = std::move(parsed.query);
    request.headers = std::move(headers);
    request.body = std::move(body);
    return api.answer(request, identity);
  }
  http::Response get(const std::string& target, http::Headers headers = {}) {
    return send(http::Method::get, target, {}, std::move(headers));
  }
  http::Response report(const std::string& name, const std::string& status) {
    return send(http::Method::put, "/" + name + "/status", node_metric(name, status));
  }
  boost::json::value get_json(const std::string& target, http::Headers headers = {}) {
    const http::Response response = get(target, std::move(headers));
    return json_of(response.stream ? drain(*response.stream) : response.body);
  }
};

// Returns a member by its path, "metadata.name". Array indices are not supported.
inline const boost::json::value& at(const boost::json::value& value, std::string_view path) {
  const std::size_t dot = path.find('.');
  const boost::json::value* member = json_member(value, path.substr(0, dot));
  static const boost::json::value kNothing;
  if (member == nullptr || dot == path.npos) return member == nullptr ? kNothing : *member;
  return at(*member, path.substr(dot + 1));
}

inline std::string text_at(const boost::json::value& value, std::string_view path) {
  const boost::json::value& found = at(value, path);
  return found.is_string() ? std::string(text_view(found.get_string())) : boost::json::serialize(found);
}

}  // namespace koord::test
