// SPDX-License-Identifier: Apache-2.0
// koord.evict/1: requests of a strategy to evict pods. This service checks and collects them. The pods are selected
// after evaluate() has returned.
#include <vector>

#include "core/evict/request.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record_arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

koord_status request(const koord_host* host, const koord_eviction* eviction) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    Result<evict::Request> taken = eviction_argument(eviction);
    if (!taken) return logged(context, refusal_of_eviction(taken.error()));
    return context.request_eviction(*std::move(taken));
  });
}

}  // namespace

const koord_svc_evict evict_service = {sizeof evict_service, 0, request};

}  // namespace koord::service
