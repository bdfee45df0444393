// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/handler.hpp"

#include <memory>
#include <utility>

namespace koord::aggregated {
namespace {

struct Client : http::RequestClient {
  explicit Client(Identity of) : identity(std::move(of)) {}
  const Identity identity;
};

// The request is valid until `decide` is called.
void admit(http::Request& request, const Access& access, Identity identity, const http::Decide& decide) {
  const auto client = std::make_shared<const Client>(std::move(identity));
  request.client = client;
  if (!access.authorize) return decide(std::nullopt);
  const Outcome<Attributes> attributes = Api::attributes_of(request);
  if (!attributes) return decide(to_response(attributes.error()));
  access.authorize(client->identity, *attributes, [client, decide](std::optional<Failure> refused) {
    decide(refused ? std::optional(to_response(*refused)) : std::nullopt);
  });
}

bool has_body(const http::Request& request) {
  return request.header("Content-Length").value_or("0") != "0" || request.header("Transfer-Encoding");
}

// The sender of a request to an open path is unknown. So only reads are answered, because the body of any other request
// would cost memory.
std::optional<http::Response> refusal_of_open(const http::Request& request) {
  if (http::is_read(request.method)) return std::nullopt;
  return to_response(method_not_allowed("only GET and HEAD are served here"));
}

}  // namespace

http::Guard make_guard(Access access) {
  return [access = std::make_shared<const Access>(std::move(access))](http::Request& request, http::Decide decide) {
    if (http::is_read(request.method) && has_body(request))
      return decide(to_response(bad_request("GET and HEAD have no body here")));
    if (Api::is_open_path(request.path)) return decide(refusal_of_open(request));
    access->authenticate(request, [&request, access, decide = std::move(decide)](Outcome<Identity> identity) {
      if (!identity) return decide(to_response(identity.error()));
      admit(request, *access, *std::move(identity), decide);
    });
  };
}

const Identity* identity_of(const http::Request& request) {
  return request.client ? &static_cast<const Client*>(request.client.get())->identity : nullptr;
}

http::SlowHandler make_handler(Api& api) {
  return [&api](const http::Request& request, const http::Reply& reply) {
    const Identity* identity = identity_of(request);
    if (identity == nullptr && !Api::is_open_path(request.path)) return reply(to_response(unauthorized("")));
    reply(api.answer(request, identity ? *identity : Identity()));
  };
}

void add_routes(http::Routes& routes, Api& api, Access access) {
  routes.all_below("/", make_handler(api), kMaxBodyBytes, make_guard(std::move(access)));
}

}  // namespace koord::aggregated
