// SPDX-License-Identifier: Apache-2.0
#include "core/ui/access.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/parse.hpp"
#include "core/base/url.hpp"

namespace koord::ui {
namespace {

constexpr std::size_t kMostTokens = 4, kMostSessions = 8;

// Returns 32 random bytes as 64 hexadecimal digits.
Result<std::string> random_text() {
  std::array<unsigned char, 32> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return system_error(errno, "cannot get random bytes for a token");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += static_cast<char>('a' + (byte >> 4));
    text += static_cast<char>('a' + (byte & 15));
  }
  return text;
}

// Compares in a time that does not depend on the position of the first difference.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

bool has_secret(const std::deque<std::string>& secrets, std::string_view text) {
  bool found = false;
  for (const std::string& secret : secrets) found |= is_same_secret(secret, text);
  return found;
}

// Compares header names, which are case-insensitive.
bool is_header(std::string_view header, std::string_view name) {
  return std::equal(header.begin(), header.end(), name.begin(), name.end(),
                    [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

std::size_t count_of(const http::Request& request, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(request.headers.begin(), request.headers.end(),
                                                [&](const auto& header) { return is_header(header.first, name); }));
}

http::Response not_signed_in() {
  return http::plain_text(401, "open the link that koordctl ui printed; each link works once");
}

}  // namespace

Result<std::string> Access::new_token() {
  std::string token = TRY(random_text());
  tokens_.push_back(token);
  if (tokens_.size() > kMostTokens) tokens_.pop_front();
  return token;
}

std::optional<http::Response> Access::check(const http::Request& request) {
  if (count_of(request, "Host") != 1 || !is_own_authority(*request.header("Host")))
    return http::plain_text(403, "the header Host is not the address of koordctl ui");
  if (!is_from_own_page(request)) return http::plain_text(403, "another page has sent this request");
  if (!http::is_read(request.method)) {
    http::Response refusal = http::plain_text(405, "koordctl ui only reads: GET and HEAD");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return refusal;
  }
  const std::optional<std::string_view> token = request.query.get("token");
  if (token && request.path == "/" && request.method == http::Method::get) return redeem(*token);
  if (!has_session(request)) return not_signed_in();
  return std::nullopt;
}

// Returns whether the authority is a loopback name of this server. A foreign page cannot map such a name to 127.0.0.1
// (DNS rebinding).
bool Access::is_own_authority(std::string_view authority) const {
  const std::string port = ":" + std::to_string(port_);
  if (authority.ends_with(port))
    authority.remove_suffix(port.size());
  else if (port_ != 80)
    return false;
  if (authority == "localhost" || authority == "[::1]") return true;
  const std::vector<std::string> parts = split(authority, '.');
  return parts.size() == 4 && parts[0] == "127" && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           const Result<std::uint64_t> number = parse_uint(part);
           return number && *number < 256;
         });
}

// Returns whether the viewer's own page sent the request. Browsers count pages of other ports of this machine as the
// same site, so their requests have the cookie, too; the headers Origin and Sec-Fetch-Site distinguish them. Links on
// other pages may lead to the viewer's page.
bool Access::is_from_own_page(const http::Request& request) const {
  if (count_of(request, "Origin") > 1 || count_of(request, "Sec-Fetch-Site") > 1) return false;
  if (const auto origin = request.header("Origin")) {
    const Result<Url> url = parse_url(*origin);
    if (!url || url->scheme != "http" || url->authority() != *request.header("Host") || !url->target.empty())
      return false;
  }
  const std::string_view site = request.header("Sec-Fetch-Site").value_or("none");
  const bool is_link = request.path == "/" && request.header("Sec-Fetch-Mode") == "navigate";
  return site == "none" || site == "same-origin" || is_link;
}

bool Access::has_session(const http::Request& request) const {
  const std::string name = cookie_name() + "=";
  for (const auto& [header, value] : request.headers) {
    if (!is_header(header, "Cookie")) continue;
    for (const std::string& cookie : split(value, ';')) {
      const std::string_view text = trim(cookie);
      if (text.starts_with(name) && has_secret(sessions_, text.substr(name.size()))) return true;
    }
  }
  return false;
}

// Answers a token with a page instead of a redirect. A redirect would belong to the navigation of the page with the
// link, and browsers do not send a Strict cookie with a navigation from a different site. This answer is a page of the
// viewer, so it can go to "/" with the cookie.
http::Response Access::redeem(std::string_view token) {
  if (!has_secret(tokens_, token)) return not_signed_in();
  std::erase_if(tokens_, [&](const std::string& known) { return is_same_secret(known, token); });
  Result<std::string> session = random_text();
  if (!session) return http::plain_text(500, session.error().message());
  sessions_.push_back(*session);
  if (sessions_.size() > kMostSessions) sessions_.pop_front();
  ++started_;
  http::Response answer{.content_type = "text/html; charset=utf-8",
                        .body = "<!doctype html>\n<title>koordctl ui</title>\n<p><a href=\"/\">Signed in</a></p>\n"};
  answer.headers.emplace_back("Refresh", "0;url=/");
  answer.headers.emplace_back("Set-Cookie", cookie_name() + "=" + *session + "; Path=/; HttpOnly; SameSite=Strict");
  return answer;
}

// Returns the cookie's name. Cookies are not separated by port, so each viewer on a machine needs its own name.
std::string Access::cookie_name() const { return "koordctl-ui-" + std::to_string(port_); }

}  // namespace koord::ui
