// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/guard.hpp"

#include <strings.h>

#include <utility>

#include "core/base/parse.hpp"
#include "core/http/socket_address.hpp"
#include "core/http/tls_server.hpp"

namespace koord::kubeauth {
namespace {

http::Response unauthorized(const http::Request& request) {
  std::string text = "expected a bearer token or a client certificate that is accepted";
  if (request.tls && request.tls->certificate && !request.tls->certificate->problem.empty())
    text += "; the certificate: " + request.tls->certificate->problem;
  http::Response response = http::plain_text(401, text);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

http::Response unavailable() {
  http::Response response = http::plain_text(503, "the API server cannot be asked about this request now");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

http::Response limited() {
  http::Response response = http::plain_text(429, "too many requests of this client were refused; try again later");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// The check of one request, from its credentials to the decision.
class Check : public std::enable_shared_from_this<Check> {
 public:
  Check(Reviewer& reviewer, std::shared_ptr<GuardCounters> counters, OnReview on_review, const http::Request& request,
        http::Decide decide)
      : reviewer_(reviewer),
        counters_(std::move(counters)),
        on_review_(std::move(on_review)),
        request_(request),
        decide_(std::move(decide)) {}

  void begin() {
    if (const std::optional<Identity> user = certificate_user(request_)) return authorize(*user);
    const std::optional<std::string> token = bearer_token(request_);
    if (!token) return refuse(counters_->unauthenticated, unauthorized(request_));
    reviewer_.authenticate(network_of(request_), *token,
                           [self = shared_from_this()](const TokenDecision& decision) { self->take(decision); });
  }

 private:
  void take(const TokenDecision& decision) {
    if (decision.is_limited) return refuse(counters_->limited, limited());
    if (decision.outcome == TokenDecision::Outcome::unavailable) return stop_unavailable(decision.message);
    on_review_({});
    if (decision.outcome != TokenDecision::Outcome::authenticated)
      return refuse(counters_->unauthenticated, unauthorized(request_));
    authorize(decision.identity);
  }

  void authorize(const Identity& user) {
    const Access access{.verb = "get", .path = request_.path};
    reviewer_.authorize(user, access, [self = shared_from_this(), name = user.user](const AccessDecision& decision) {
      self->take(decision, name);
    });
  }

  void take(const AccessDecision& decision, const std::string& user) {
    if (decision.is_limited) return refuse(counters_->limited, limited());
    if (decision.outcome == AccessDecision::Outcome::unavailable) return stop_unavailable(decision.message);
    on_review_({});
    if (decision.outcome == AccessDecision::Outcome::allowed) return decide_(std::nullopt);
    refuse(counters_->forbidden, http::plain_text(403, "user '" + user + "' may not get " + request_.path));
  }

  void stop_unavailable(const std::string& why) {
    on_review_(why);
    refuse(counters_->unavailable, unavailable());
  }

  void refuse(std::atomic<std::uint64_t>& count, http::Response response) {
    ++count;
    decide_(std::move(response));
  }

  Reviewer& reviewer_;
  const std::shared_ptr<GuardCounters> counters_;
  const OnReview on_review_;
  const http::Request& request_;  // valid until the decision
  const http::Decide decide_;
};

}  // namespace

std::optional<Identity> certificate_user(const http::Request& request) {
  if (!request.tls || !request.tls->certificate) return std::nullopt;
  const http::TlsPeer::Certificate& certificate = *request.tls->certificate;
  if (!certificate.is_verified_by(kClientAuthorities) || certificate.common_name.empty()) return std::nullopt;
  Identity user{.user = certificate.common_name, .groups = certificate.organizations};
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

std::string address_of(const http::Request& request) { return request.tls ? request.tls->address : std::string(); }

std::string network_of(const http::Request& request) { return http::network_of(address_of(request)); }

std::optional<std::string> bearer_token(const http::Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = trim(request.header("Authorization").value_or(""));
  if (value.size() <= kScheme.size() || ::strncasecmp(value.data(), kScheme.data(), kScheme.size()) != 0)
    return std::nullopt;
  return std::string(trim(value.substr(kScheme.size())));
}

http::Guard review_guard(Reviewer& reviewer, std::shared_ptr<GuardCounters> counters, OnReview on_review) {
  return [&reviewer, counters = std::move(counters), on_review = std::move(on_review)](const http::Request& request,
                                                                                       http::Decide decide) {
    std::make_shared<Check>(reviewer, counters, on_review, request, std::move(decide))->begin();
  };
}

http::Guard certificate_guard(std::shared_ptr<GuardCounters> counters) {
  return [counters = std::move(counters)](const http::Request& request, const http::Decide& decide) {
    if (certificate_user(request)) return decide(std::nullopt);
    ++counters->unauthenticated;
    decide(unauthorized(request));
  };
}

}  // namespace koord::kubeauth
