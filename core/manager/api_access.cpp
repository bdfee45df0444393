// SPDX-License-Identifier: Apache-2.0
#include "core/manager/api_access.hpp"

#include <utility>

#include "core/aggregated/names.hpp"
#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/kubeauth/guard.hpp"
#include "core/manager/manager_log.hpp"

namespace koord::manager {
namespace {

// Each of several thousand agents has its own token and permissions, which are reviewed repeatedly.
constexpr kube::ClientOptions kReviewClient{.requests_per_second = 2000, .burst = 2000, .kept_connections = 16};

kubeauth::ReviewerOptions reviewer_options(Duration keep) {
  return {.keep = keep,
          .entries = 40'000,
          .bytes = 64u << 20,
          .refusals = 4096,
          .refusal_bytes = 8u << 20,
          .budget = {.of_all = 1024, .of_all_per_second = 100, .clients = 16'384},
          .line = {.of_client = 128, .of_all = 512}};
}

kube::Collection authentication_settings() {
  return {.path = "/api/v1/namespaces/kube-system/configmaps",
          .field_selector = "metadata.name=extension-apiserver-authentication"};
}

aggregated::Identity to_client(kubeauth::Identity user) {
  return {.user = std::move(user.user),
          .uid = std::move(user.uid),
          .groups = std::move(user.groups),
          .extra = std::move(user.extra)};
}

kubeauth::Identity to_user(const aggregated::Identity& client) {
  return {.user = client.user, .uid = client.uid, .groups = client.groups, .extra = client.extra};
}

kubeauth::Access to_access(const aggregated::Attributes& attributes) {
  if (!attributes.is_resource) return {.verb = attributes.verb, .path = attributes.path};
  return {.verb = attributes.verb,
          .group = std::string(aggregated::kGroup),
          .version = std::string(aggregated::kGroupVersion),
          .resource = attributes.resource,
          .subresource = attributes.subresource,
          .name = attributes.name};
}

std::string certificate_problem(const http::Request& request) {
  if (!request.tls || !request.tls->certificate || request.tls->certificate->problem.empty()) return {};
  return "Unauthorized; the certificate: " + request.tls->certificate->problem;
}

}  // namespace

ApiAccess::ApiAccess(Parts parts, const kube::ConnectionConfig& api_server, Duration keep)
    : parts_(parts),
      client_(parts_.loop, parts_.workers, parts_.clock, api_server, kReviewClient),
      reviewer_(parts_.loop, parts_.clock, client_, reviewer_options(keep)),
      settings_problem_("ConfigMap kube-system/extension-apiserver-authentication is not known yet"),
      watch_(parts_.loop, parts_.workers, parts_.clock, client_, authentication_settings(), {},
             {.on_objects = [this](const kube::Objects& objects, const kube::Difference&) { take_config_map(objects); },
              .on_health = [this](const kube::Health& health) { watch_problem_ = health.problem; },
              .on_confirmed = {}}) {}

// Invalid settings are ignored, so the last valid settings stay in use. The new settings apply to existing connections,
// too.
void ApiAccess::take_config_map(const kube::Objects& objects) {
  retry_.reset();
  settings_problem_.clear();
  if (objects.empty()) {
    settings_problem_ = "ConfigMap kube-system/extension-apiserver-authentication is missing";
  } else if (Result<kubeauth::FrontProxy> proxy = kubeauth::parse_front_proxy(objects.begin()->second->text); !proxy) {
    settings_problem_ = proxy.error().message();
  } else if (*proxy != proxy_) {
    return use(*std::move(proxy));
  }
  is_known_ = true;
}

void ApiAccess::use(kubeauth::FrontProxy proxy) {
  const Result<void> renewed = parts_.tls.renew_clients(kubeauth::authorities_of(proxy));
  if (renewed) {
    retries_.succeeded();
    proxy_ = std::move(proxy);
    is_known_ = true;
    return;
  }
  settings_problem_ = renewed.error().message();
  retry_ = parts_.loop.after(retries_.failed(), [this, proxy = std::move(proxy)] { use_again(proxy); });
}

// Takes a copy of `proxy`, because use() ends the retry task that owns the original.
void ApiAccess::use_again(kubeauth::FrontProxy proxy) {
  settings_problem_.clear();
  use(std::move(proxy));
}

aggregated::Access ApiAccess::access() {
  return {
      .authenticate = [this](const http::Request& request,
                             const aggregated::Access::OnIdentity& on_identity) { authenticate(request, on_identity); },
      .authorize =
          [this](const aggregated::Identity& identity, const aggregated::Attributes& attributes,
                 const aggregated::Access::OnDecision& on_decision) { authorize(identity, attributes, on_decision); }};
}

void ApiAccess::authenticate(const http::Request& request, const aggregated::Access::OnIdentity& on_identity) {
  using Outcome = kubeauth::TokenDecision::Outcome;
  // Without the authorities only a bearer token can be checked.
  if (!is_known_ && !kubeauth::bearer_token(request)) {
    ++counters_.unavailable;
    return on_identity(aggregated::not_serving("the authorities of clients are not known yet"));
  }
  kubeauth::identify(
      reviewer_, proxy_, request, [this, &request, on_identity](const kubeauth::TokenDecision& decision) {
        if (decision.outcome == Outcome::authenticated) return on_identity(to_client(decision.identity));
        if (decision.is_limited) return on_identity(limited(request));
        if (decision.outcome == Outcome::unavailable) {
          ++counters_.unavailable;
          return on_identity(aggregated::not_serving("the API server cannot be asked about this request now"));
        }
        ++counters_.unauthenticated;
        note_forged(request);
        on_identity(aggregated::unauthorized(certificate_problem(request)));
      });
}

aggregated::Failure ApiAccess::limited(const http::Request& request) {
  ++counters_.limited;
  const std::string address = kubeauth::address_of(request);
  limited_lines_.write(
      parts_.clock.now(), manager_log, log::Level::warn,
      "refused: a token of '" + address + "'; too many tokens of it, or of all clients, were not accepted");
  return aggregated::too_many_requests("too many tokens of '" + kubeauth::network_of(request) +
                                       "', or of all clients, were not accepted");
}

void ApiAccess::note_forged(const http::Request& request) {
  for (const std::string& name : proxy_.user_headers) {
    const auto user = request.header(name);
    if (!user) continue;
    const bool is_of_proxy = kubeauth::is_of_proxy(request, proxy_);
    if (trim(*user).empty() && !is_of_proxy) continue;
    audit_lines_.write(parts_.clock.now(), manager_log, log::Level::warn,
                       is_of_proxy ? "refused: the front proxy names no user: header '" + name + "' is empty"
                                   : "refused: a client without the front proxy's certificate says that it is '" +
                                         printable(*user) + "'");
    return;
  }
}

void ApiAccess::authorize(const aggregated::Identity& identity, const aggregated::Attributes& attributes,
                          const aggregated::Access::OnDecision& on_decision) {
  const kubeauth::Identity user = to_user(identity);
  if (user.in_group(kubeauth::kMastersGroup)) return on_decision(std::nullopt);
  const kubeauth::Access access = to_access(attributes);
  using Outcome = kubeauth::AccessDecision::Outcome;
  reviewer_.authorize(
      user, access,
      [this, on_decision, name = attributes.name, user = user.user,
       what = describe(access)](const kubeauth::AccessDecision& decision) {
        if (decision.outcome == Outcome::allowed) return on_decision(std::nullopt);
        if (decision.is_limited) {
          ++counters_.limited;
          return on_decision(aggregated::too_many_requests(decision.message));
        }
        if (decision.outcome == Outcome::unavailable) {
          ++counters_.unavailable;
          return on_decision(aggregated::not_serving("the API server cannot be asked about this request now"));
        }
        ++counters_.forbidden;
        on_decision(aggregated::forbidden(name, "User '" + user + "' cannot " + what));
      });
}

}  // namespace koord::manager
