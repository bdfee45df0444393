// SPDX-License-Identifier: Apache-2.0
// A pod's eviction policy, as the host reads it, and the kernel's pressure file: no text may cause a crash, and an
// invalid policy must allow no eviction.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/evict/container_kill.hpp"
#include "core/evict/eligibility.hpp"
#include "core/json/scanner.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  koord::state::Pod pod;
  pod.koord_qos = koord::state::KoordQos::be;
  pod.annotations["koordinator.sh/eviction-policy"] = text;
  const bool allowed = koord::evict::opt_out_of(pod, "BECPUEvict").empty();
  koord::JsonScanner json(text);
  const bool is_json = json.value().has_value() && json.end().has_value();
  if (allowed && !is_json) std::abort();
  if (const auto pressure = koord::evict::full_memory_pressure(text);
      pressure && text.find("full ") == std::string_view::npos)
    std::abort();
  return 0;
}
