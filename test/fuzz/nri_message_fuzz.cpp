// SPDX-License-Identifier: Apache-2.0
// NRI messages. The first byte of an input selects the kind of the message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/utf8.hpp"
#include "core/hook/nri/ttrpc.hpp"
#include "core/hook/nri/wire.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::nri;

namespace {

bool keep(std::string_view key) { return key.starts_with("k"); }

void check_annotations(const TextMap& annotations) {
  for (const auto& [key, value] : annotations) check(keep(key) && is_valid_utf8(key) && is_valid_utf8(value));
}

void check_event(const Result<EventRequest>& request) {
  if (!request) return;
  check_annotations(request->pod.annotations);
  check_annotations(request->container.annotations);
  check(request->container.resources.cpu_shares != 0);  // 0 means unset
  // Everything that was read can be sent, because its texts are UTF-8.
  const Container& container = request->container;
  check(encode_adjustment({.annotations = container.annotations,
                           .mounts = container.mounts,
                           .devices = container.devices,
                           .resources = container.resources,
                           .oom_score_adj = container.oom_score_adj},
                          {{.container_id = container.id, .resources = request->resources}})
            .has_value());
}

void check_synchronize(const Result<SynchronizeRequest>& request) {
  if (!request) return;
  check(request->pods.size() + request->containers.size() <= Budget::kElements);
  for (const Pod& pod : request->pods) check_annotations(pod.annotations);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'c':
      (void)read_configure(bytes).has_value();
      break;
    case 'e':
      check_event(read_event(Stage::create_container, bytes, keep));
      break;
    case 'f':
      (void)read_failed_updates(bytes).has_value();
      break;
    case 'p':
      check_event(read_event(Stage::update_pod_sandbox, bytes, keep));
      break;
    case 'q':
      (void)read_request(bytes).has_value();
      break;
    case 'r':
      (void)read_response(bytes).has_value();
      break;
    case 's':
      check_synchronize(read_synchronize(bytes, keep));
      break;
    case 't':
      check_event(read_state_change(bytes, keep));
      break;
    default:
      break;
  }
  return 0;
}
