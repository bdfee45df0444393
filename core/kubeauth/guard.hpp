// SPDX-License-Identifier: Apache-2.0
// Guards for servers of ours, as kube-rbac-proxy has them. A client names its user by a certificate or a bearer
// token, and the API server says whether it may `get` the path. 401: no credentials, or none that are accepted; 403:
// the user may not; 429: too many requests of this client were refused; 503: the API server did not say. Headers such
// as X-Remote-User mean nothing here. [loop thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/http/message.hpp"
#include "core/http/routes.hpp"
#include "core/kubeauth/identity.hpp"
#include "core/kubeauth/reviewer.hpp"

namespace koord::kubeauth {

// The name of the client authorities with users as certificates (TlsServerOptions::Authorities).
inline constexpr const char* kClientAuthorities = "clients";

// [any thread]
struct GuardCounters {
  std::atomic<std::uint64_t> unauthenticated = 0;  // 401
  std::atomic<std::uint64_t> forbidden = 0;        // 403
  std::atomic<std::uint64_t> limited = 0;          // 429
  std::atomic<std::uint64_t> unavailable = 0;      // 503
};

// The user of a verified client certificate: CN is its name, each O a group. nullopt: no certificate was verified.
std::optional<Identity> certificate_user(const http::Request& request);
// The token of "Authorization: Bearer …"; nullopt: none.
std::optional<std::string> bearer_token(const http::Request& request);

// The address of a client with TLS; empty: unknown.
std::string address_of(const http::Request& request);
// The client that pays for questions about a token: the address, of IPv6 its network of 64 bits.
std::string network_of(const http::Request& request);

// Called after each review that the guard needed: why the API server did not answer, or "" when it did.
using OnReview = std::function<void(const std::string& problem)>;

// The reviewer must outlive the requests.
http::Guard review_guard(Reviewer& reviewer, std::shared_ptr<GuardCounters> counters, OnReview on_review);
// Any client with a verified certificate.
http::Guard certificate_guard(std::shared_ptr<GuardCounters> counters);

}  // namespace koord::kubeauth
