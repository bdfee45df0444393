// SPDX-License-Identifier: Apache-2.0
// Verdicts of any content: from a child's message, through the checks of koord.verdict/1, to the list that other
// plugins read. An input has the format that add_posted() writes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/child/served_verdicts.hpp"
#include "core/child/verdict_wire.hpp"
#include "core/service/verdict_list.hpp"
#include "test/fuzz/check.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace {

using namespace koord;

struct Host {
  test::FakeNode node;
  test::FakeHost host{node};

  Host() {
    std::vector<state::Pod> pods(3);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i].uid = pods[i].name = std::to_string(i);
    host.hub().publish({.pods = pods});
  }
};

// Checks the guarantees for readers of an accepted verdict.
void check_verdict(const koord_verdict& verdict) {
  check(verdict.kind >= KOORD_VERDICT_INTERFERED && verdict.kind <= KOORD_VERDICT_UNKNOWN);
  check(verdict.victim != KOORD_NO_SUBJECT && verdict.victim_name.n > 0 && verdict.plugin.n > 0);
  check(verdict.from_ns <= verdict.to_ns && verdict.windows_over <= verdict.windows_seen);
  check(std::isfinite(verdict.value) && verdict.statistic.n > 0 && verdict.ttl_ns > 0);
  check(verdict.n_suspects <= 32 && verdict.n_others <= 16);
  for (std::uint32_t i = 0; i < verdict.n_suspects; ++i)
    check(!(verdict.suspects[i].share > 1.001) && !std::isinf(verdict.suspects[i].excess));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Host host;
  static const koord_svc_verdict& service = *host.host.service<koord_svc_verdict>("koord.verdict/1");
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  child::Unpacker request(message);
  child::serve_verdict_post(host.host.abi(), request);
  const koord_verdict_list* list = nullptr;
  check(service.acquire(host.host.abi(), &list) == KOORD_OK);
  std::uint32_t n = 0, stride = 0;
  const koord_verdict* verdicts = service.verdicts(list, &n, &stride);
  check(n <= 4096);
  for (std::uint32_t i = 0; i < n; ++i) check_verdict(verdicts[i]);
  // A child must read the same list.
  child::Packer answer;
  child::add_standing(answer, *host.host.services().verdicts.standing());
  child::Unpacker in(answer.bytes());
  check(child::take_standing(in).records.size() == n && in.complete());
  service.release(host.host.abi(), list);
  host.host.services().verdicts.end_session(host.host.clock().now(), "test", host.host.context().session(), "the next");
  return 0;
}
