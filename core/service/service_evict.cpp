// SPDX-License-Identifier: Apache-2.0
// koord.evict/1: requests of a strategy to evict pods. Here a request is checked and collected; the pods are selected
// once evaluate() has returned.
#include <vector>

#include "core/evict/request.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::host {
namespace {

constexpr std::uint32_t kMostPods = 10'000;  // of one request

Result<evict::Request> take_request(const koord_eviction* eviction) {
  const auto record = TRY(take_record<koord_eviction>(eviction, "eviction"));
  const auto pods = TRY(array_argument(record.pods, record.n_pods, sizeof(std::uint64_t), "pods"));
  if (pods.size() == 0 || pods.size() > kMostPods)
    return invalid("n_pods is " + std::to_string(pods.size()) + ", expected 1 to " + std::to_string(kMostPods));
  if (record.amount <= 0) return invalid("amount is " + std::to_string(record.amount) + ", expected how much to release");
  evict::Request request;
  request.resource = TRY(name_argument(record.resource, "resource"));
  TRY(evict::parse_release(request.resource));
  request.reason = TRY(sentence_argument(record.reason, "reason"));
  request.inputs = TRY(inputs_argument(record.inputs, record.n_inputs, record.input_stride));
  request.amount = record.amount;
  request.pods.reserve(pods.size());
  for (std::uint32_t i = 0; i < pods.size(); ++i) request.pods.push_back(pods[i]);
  return request;
}

koord_status request(const koord_host* host, const koord_eviction* eviction) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    Result<evict::Request> taken = take_request(eviction);
    if (!taken) {
      context.note_refusal("request for evictions is refused: " + why(taken.error()));
      return std::move(taken).error();
    }
    return context.request_eviction(*std::move(taken));
  });
}

}  // namespace

const koord_svc_evict evict_service = {sizeof evict_service, 0, request};

}  // namespace koord::host
