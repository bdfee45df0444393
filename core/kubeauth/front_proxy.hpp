// SPDX-License-Identifier: Apache-2.0
// Requests that an API server passes on (aggregation): it authenticates the client, connects with its own certificate,
// the front proxy's, and names the client in headers. ConfigMap kube-system/extension-apiserver-authentication says
// which authority signs that certificate, which names it may have, and which headers count. Without such a certificate
// these headers mean nothing. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/http/message.hpp"
#include "core/http/tls_server.hpp"
#include "core/kubeauth/identity.hpp"
#include "core/kubeauth/reviewer.hpp"

namespace koord::kubeauth {

// The name of the front proxy's authorities (TlsServerOptions::Authorities).
inline constexpr const char* kProxyAuthorities = "front-proxy";

struct FrontProxy {
  std::string client_ca = {};                   // PEM: authorities of certificates of users; empty: none
  std::string proxy_ca = {};                    // PEM: authorities of the front proxy; empty: none
  std::vector<std::string> allowed_names = {};  // common names of its certificate; empty: any
  std::vector<std::string> user_headers = {}, uid_headers = {}, group_headers = {}, extra_prefixes = {};

  bool operator==(const FrontProxy&) const = default;
};

// From the ConfigMap as JSON. An error names the key.
Result<FrontProxy> parse_front_proxy(std::string_view config_map);
// The authorities of clients, for a TLS server.
std::vector<http::TlsServerOptions::Authorities> authorities_of(const FrontProxy& proxy);

// Returns whether the client has the front proxy's certificate.
bool is_of_proxy(const http::Request& request, const FrontProxy& proxy);

// The user that the front proxy names. nullopt: the request does not come from it, or names none.
std::optional<Identity> front_proxy_user(const http::Request& request, const FrontProxy& proxy);

// Finds the client of a request: named by the front proxy, or by a client certificate, or by a bearer token. Without
// any of these it is refused. [loop thread]
void identify(Reviewer& reviewer, const FrontProxy& proxy, const http::Request& request, Reviewer::OnToken on_client);

}  // namespace koord::kubeauth
