// SPDX-License-Identifier: Apache-2.0
// Any text as the metrics page of a koord-manager replica, as its Lease and as its pods: koordctl must print no control
// characters except line breaks.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ctl/manager_status.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::ctl;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ManagerReplica replica;
  replica.pod = text;
  (void)read_manager_metrics(text, replica);
  check(replica.nodes.size() <= 5);
  ManagerStatus status{.place = {"ns", "name"}, .lease = {.holder = text}, .replicas = {replica}, .problem = {}};
  for (const char c : render_manager_status(status)) check(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  const auto any = [&](const std::string&) -> Result<kube::Reply> { return kube::Reply{.status = 200, .body = text}; };
  if (const Result<ManagerStatus> read = read_manager_status({"ns", "name"}, 9320, 1'800'000'000'000'000'000, any)) {
    check(read->replicas.size() <= 16);
    (void)manager_status_json(*read);
  }
  return 0;
}
