// SPDX-License-Identifier: Apache-2.0
#include "core/ui/viewer.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/url.hpp"
#include "core/http/gzip.hpp"
#include "core/ui/page_files.hpp"

namespace koord::ui {
namespace {

namespace json = boost::json;

constexpr std::string_view kApi = "/api/v1/", kSql = "/sql";
constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kMostFileBytes = 4u << 20;  // limit for a decompressed file of the page

http::Response json_error(unsigned status, std::string_view text) {
  return {.status = status,
          .content_type = std::string(http::kJson),
          .body = json::serialize(json::value{{"error", text}}) + "\n"};
}

// Sets the security headers. "default-src 'none'" forbids everything that the following directives do not allow.
void forbid_foreign_content(http::Response& response) {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"X-Frame-Options", "DENY"},
           {"Cache-Control", "no-store"}})
    response.headers.emplace_back(name, value);
}

http::Response file_of_page(const http::Request& request) {
  const std::string_view path = request.path == "/" ? "/index.html" : std::string_view(request.path);
  for (const PageFile& file : page_files()) {
    if (file.path != path) continue;
    http::Response answer{.content_type = std::string(file.content_type), .body = std::string(file.gzip)};
    if (http::accepts_gzip(request.header("Accept-Encoding").value_or(""))) {
      answer.headers.emplace_back("Content-Encoding", "gzip");
      return answer;
    }
    Result<std::string> text = http::gunzip(file.gzip, kMostFileBytes);
    if (!text) return http::plain_text(500, text.error().message());
    answer.body = std::move(text).value();
    return answer;
  }
  return http::plain_text(404, "koordctl ui has no such page");
}

// Returns whether it is a path of the data API: letters, digits, '-', '_' and single slashes.
bool is_api_path(std::string_view path) {
  return path.find("//") == path.npos && std::all_of(path.begin(), path.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '-' ||
                  c == '_';
         });
}

// Returns the target, composed from its parsed parts, so the agent receives only parsed text.
std::string target_of(const http::Request& request) {
  std::string target = request.path;
  for (const auto& [name, value] : request.query.parameters())
    target += (target.size() == request.path.size() ? "?" : "&") + percent_encode(name) + "=" + percent_encode(value);
  return target;
}

http::Response no_answer(const Error& error) {
  return json_error(502, "the agent does not answer: " + error.message());
}

http::Response ask_agent(Source& source, const http::Request& request) {
  if (!is_api_path(request.path)) return json_error(404, "the data API has no such path");
  Result<http::ClientResponse> answer = source.get(target_of(request));
  if (!answer) return no_answer(answer.error());
  return {.status = answer->status,
          .content_type = std::string(answer->header("Content-Type").value_or(http::kPlainText)),
          .body = std::move(answer->body)};
}

http::Response run_sql(Source& source, const http::Request& request) {
  std::size_t max_rows = kMostRows;
  if (const auto text = request.query.get("limit")) {
    const Result<std::uint64_t> number = parse_uint(*text);
    if (!number || *number == 0 || *number > kMostRows)
      return json_error(400, "limit is not a number from 1 to " + std::to_string(kMostRows));
    max_rows = *number;
  }
  Result<http::ClientResponse> rows = source.sql(std::string(request.query.get("query").value_or("")), max_rows);
  if (!rows) return no_answer(rows.error());
  if (rows->status != 200) return json_error(rows->status, rows->body);
  return {.content_type = std::string(http::kJson), .body = std::move(rows->body)};
}

http::Response guarded(http::Response response) {
  forbid_foreign_content(response);
  return response;
}

}  // namespace

http::Routes viewer_routes(Source& source, CheckAccess check) {
  http::Routes routes;
  routes.set_guard([check = std::move(check)](const http::Request& request, const http::Decide& decide) {
    std::optional<http::Response> refusal = check(request);
    decide(refusal ? std::optional(guarded(*std::move(refusal))) : std::nullopt);
  });
  routes.get_slow(std::string(kSql), [&source](const http::Request& request, const http::Reply& reply) {
    reply(guarded(run_sql(source, request)));
  });
  routes.all_below(std::string(kApi), [&source](const http::Request& request, const http::Reply& reply) {
    reply(guarded(ask_agent(source, request)));
  });
  routes.all_below_now(
      "/", [](const http::Request& request, const http::Reply& reply) { reply(guarded(file_of_page(request))); });
  return routes;
}

}  // namespace koord::ui
