// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/handler.hpp"

#include <memory>
#include <utility>

namespace koord::aggregated {
namespace {

// One request on its way.
struct Served {
  Api& api;
  const http::Request request;
  const http::Reply reply;
  Identity identity = {};

  void answer() const { reply(api.answer(request, identity)); }
  void refuse(const Failure& failure) const { reply(to_response(failure)); }
};

void authorize(const std::shared_ptr<Served>& served, const Access& access) {
  if (!access.authorize) return served->answer();
  access.authorize(served->identity, Api::attributes_of(served->request), [served](std::optional<Failure> refused) {
    if (refused) return served->refuse(*refused);
    served->answer();
  });
}

}  // namespace

http::SlowHandler make_handler(Api& api, Access access) {
  return [&api, access = std::make_shared<const Access>(std::move(access))](const http::Request& request,
                                                                            const http::Reply& reply) {
    auto served = std::make_shared<Served>(Served{api, request, reply});
    if (Api::is_open_path(request.path)) return served->answer();
    access->authenticate(served->request, [served, access](Outcome<Identity> identity) {
      if (!identity) return served->refuse(identity.error());
      served->identity = *std::move(identity);
      authorize(served, *access);
    });
  };
}

void add_routes(http::Routes& routes, Api& api, Access access) {
  routes.all_below("/", make_handler(api, std::move(access)), kMaxBodyBytes);
}

}  // namespace koord::aggregated
