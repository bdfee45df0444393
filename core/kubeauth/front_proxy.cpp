// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/front_proxy.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/url.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/kubeauth/guard.hpp"

namespace koord::kubeauth {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
constexpr std::string_view kAnonymousUser = "system:anonymous";

// Returns a value of the ConfigMap that is a JSON list of texts. A missing value is an empty list.
Result<Texts> list_in(const JsonField& data, std::string_view key) {
  const std::string text = TRY(data[key].text());
  Texts values;
  if (text.empty()) return values;
  Result<boost::json::value> value = read_json(text);
  if (!value) return std::move(value).error().context(key);
  const JsonField list(*value, std::string(key));
  const std::vector<JsonField> items = TRY(list.list());
  for (const JsonField& item : items) {
    std::string one = TRY(item.text());
    if (one.empty()) return invalid(item.path() + ": expected text, found none");
    values.push_back(std::move(one));
  }
  return values;
}

// Returns the values of all headers with these names, or only of the first name that has values.
Texts values_of(const http::Request& request, const Texts& names, bool only_first) {
  Texts values;
  for (const std::string& name : names) {
    for (const auto& [header, value] : request.headers)
      if (equal_but_case(header, name) && !trim(value).empty()) values.emplace_back(trim(value));
    if (only_first && !values.empty()) break;
  }
  return values;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Adds the extra values. "X-Remote-Extra-Authentication.kubernetes.io%2fnode-name: a" has the key
// "authentication.kubernetes.io/node-name".
void add_extra(const http::Request& request, const Texts& prefixes, Identity& user) {
  for (const auto& [header, value] : request.headers) {
    for (const std::string& prefix : prefixes) {
      if (header.size() <= prefix.size() || !equal_but_case(std::string_view(header).substr(0, prefix.size()), prefix))
        continue;
      const std::string key = lower(std::string_view(header).substr(prefix.size()));
      user.extra[percent_decode(key, false).value_or(key)].emplace_back(value);
      break;
    }
  }
}

// Adds system:authenticated, as an API server does for each authenticated user.
void add_authenticated_group(Identity& user) {
  if (user.user == kAnonymousUser || user.in_group(kAuthenticatedGroup) || user.in_group(kUnauthenticatedGroup)) return;
  user.groups.emplace_back(kAuthenticatedGroup);
}

TokenDecision authenticated(Identity identity) {
  return {.outcome = TokenDecision::Outcome::authenticated, .identity = std::move(identity)};
}

}  // namespace

Result<FrontProxy> parse_front_proxy(std::string_view config_map) {
  const boost::json::value document = TRY(read_json(config_map));
  const JsonField data = JsonField(document)["data"];
  TRY(data.check_mapping());
  FrontProxy proxy;
  proxy.client_ca = TRY(data["client-ca-file"].text());
  proxy.proxy_ca = TRY(data["requestheader-client-ca-file"].text());
  proxy.allowed_names = TRY(list_in(data, "requestheader-allowed-names"));
  proxy.user_headers = TRY(list_in(data, "requestheader-username-headers"));
  proxy.uid_headers = TRY(list_in(data, "requestheader-uid-headers"));
  proxy.group_headers = TRY(list_in(data, "requestheader-group-headers"));
  proxy.extra_prefixes = TRY(list_in(data, "requestheader-extra-headers-prefix"));
  return proxy;
}

std::vector<http::TlsServerOptions::Authorities> authorities_of(const FrontProxy& proxy) {
  std::vector<http::TlsServerOptions::Authorities> all;
  if (!proxy.client_ca.empty()) all.push_back({.name = kClientAuthorities, .text = proxy.client_ca});
  if (!proxy.proxy_ca.empty()) all.push_back({.name = kProxyAuthorities, .text = proxy.proxy_ca});
  return all;
}

bool is_of_proxy(const http::Request& request, const FrontProxy& proxy) {
  if (!request.tls || !request.tls->certificate) return false;
  const http::TlsPeer::Certificate& certificate = *request.tls->certificate;
  if (!certificate.is_verified_by(kProxyAuthorities)) return false;
  return proxy.allowed_names.empty() || std::find(proxy.allowed_names.begin(), proxy.allowed_names.end(),
                                                  certificate.common_name) != proxy.allowed_names.end();
}

std::optional<Identity> front_proxy_user(const http::Request& request, const FrontProxy& proxy) {
  if (!is_of_proxy(request, proxy)) return std::nullopt;
  const Texts users = values_of(request, proxy.user_headers, true);
  if (users.empty()) return std::nullopt;
  Identity user{.user = users.front(), .groups = values_of(request, proxy.group_headers, false)};
  if (const Texts uids = values_of(request, proxy.uid_headers, true); !uids.empty()) user.uid = uids.front();
  add_extra(request, proxy.extra_prefixes, user);
  add_authenticated_group(user);
  return user;
}

void identify(Reviewer& reviewer, const FrontProxy& proxy, const http::Request& request, Reviewer::OnToken on_client) {
  if (std::optional<Identity> user = front_proxy_user(request, proxy))
    return on_client(authenticated(*std::move(user)));
  if (std::optional<Identity> user = certificate_user(request)) return on_client(authenticated(*std::move(user)));
  if (const std::optional<std::string> token = bearer_token(request))
    return reviewer.authenticate(network_of(request), *token, std::move(on_client));
  on_client({.outcome = TokenDecision::Outcome::refused, .message = "expected a client certificate or a bearer token"});
}

}  // namespace koord::kubeauth
