// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/runtime_calls.hpp"

#include <cerrno>
#include <utility>

#include "core/hook/nri/mux.hpp"

namespace koord::nri {
namespace {

constexpr std::string_view kRuntimeService = "nri.pkg.api.v1alpha1.Runtime";

Result<std::string> payload_of(Result<Response> response) {
  if (!response) return std::move(response).error();
  const CallStatus& status = response->status;
  if (status.code == Code::ok) return std::move(response->payload);
  return invalid(status.message + " (code " + std::to_string(static_cast<std::int32_t>(status.code)) + ")");
}

}  // namespace

void RuntimeCalls::call(std::string_view method, std::string payload, Duration timeout, OnAnswer on_answer) {
  const std::uint32_t id = std::exchange(next_id_, next_id_ + 2);
  Call& call = calls_[id];
  call = {.method = std::string(method), .on_answer = std::move(on_answer)};
  const std::string body = encode(Request{.service = std::string(kRuntimeService),
                                          .method = std::string(method),
                                          .payload = std::move(payload),
                                          .timeout = timeout});
  if (body.size() > kMaxSentMessage) {
    call.timeout =
        loop_.after(Duration::zero(), [this, id] { finish(id, system_error(EMSGSIZE, "the request is too large")); });
    return;
  }
  call.timeout = loop_.after(timeout, [this, id] { finish(id, system_error(ETIMEDOUT, "no answer")); });
  std::string bytes;
  append_message(bytes, kRuntimeStream, id, MessageType::request, body);
  send_(bytes);
}

Result<void> RuntimeCalls::take(const Message& message) {
  if (message.type != MessageType::response || !calls_.contains(message.call)) return {};
  if (message.too_large())
    finish(message.call, system_error(EMSGSIZE, "the answer is too large"));
  else
    finish(message.call, payload_of(read_response(message.body)));
  return {};
}

void RuntimeCalls::finish(std::uint32_t id, Result<std::string> answer) {
  auto node = calls_.extract(id);
  Call& call = node.mapped();
  if (!answer) answer = std::move(answer).error().context(call.method);
  call.on_answer(std::move(answer));
}

void RuntimeCalls::end(const Error& why) {
  while (!calls_.empty()) finish(calls_.begin()->first, why);
}

}  // namespace koord::nri
