// SPDX-License-Identifier: Apache-2.0
// Shared by the service tables of a child: packs a request, sends it, and reads its answer. Private to them.
#pragma once

#include <cstring>

#include "core/child/host_proxy.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"
#include "core/service/record_arguments.hpp"
#include "core/service/serve.hpp"

namespace koord::child {

extern const koord_svc_metrics remote_metrics;
extern const koord_svc_verdict remote_verdict;

template <class Body>
koord_status serve(const koord_host* host, Body&& body) noexcept {
  return service::serve<HostProxy>(host, body);
}

inline Packer request(Service service) {
  Packer packer;
  packer.add(static_cast<std::uint32_t>(service));
  return packer;
}

inline void add_labels(Packer& out, const metric::Labels& labels) {
  out.add(static_cast<std::uint32_t>(labels.size()));
  for (const auto& [key, value] : labels) out.add(std::string_view(key)).add(std::string_view(value));
}

// An answer that is one value.
template <class Value>
koord_status take(HostProxy& remote, const Packer& question, Value* value) {
  Answer answer = remote.ask(question);
  if (answer.ok()) *value = answer.rest.number<Value>();
  return remote.returned(answer);
}

// Stores the needed size or count, which an answer begins with, unless the call failed for another reason than its
// room.
template <class Count>
void take_need(Answer& answer, Count* need) {
  const auto needed = answer.rest.number<Count>();
  if (answer.ok() || answer.status == KOORD_E_TOO_SMALL) *need = needed;
}

// An answer of bytes into the caller's buffer.
inline Result<koord_status> take_bytes(HostProxy& remote, Packer& question, void* buf, std::uint64_t cap,
                                       std::uint64_t* need) {
  TRY(service::buffer_argument(buf, cap, need));
  Answer answer = remote.ask(question.add(cap));
  take_need(answer, need);
  std::string_view bytes = answer.rest.text();
  if (answer.ok() && bytes.size() <= cap && !bytes.empty()) std::memcpy(buf, bytes.data(), bytes.size());
  return remote.returned(answer);
}

// The host logs that this side refuses a record.
inline koord_status refuse_record(HostProxy& remote, Service service, const service::Refusal& refusal) {
  Packer question = request(service);
  question.add(refusal.status).add(std::string_view(refusal.line)).add(std::string_view(refusal.text));
  return remote.returned(remote.ask(question));
}

}  // namespace koord::child
