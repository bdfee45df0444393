// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/process_list.hpp"

#include <cstring>

#include "plugins/advisor-gpu/nvml_api.hpp"

namespace koord::gpu {
namespace {

constexpr std::size_t kLengths[] = {16, 24, kLongestElement};

std::size_t written(std::span<const std::byte> buffer) {
  std::size_t n = buffer.size();
  while (n > 0 && buffer[n - 1] == kUntouched) --n;
  return n;
}

}  // namespace

std::optional<std::vector<Process>> decode_processes(std::span<const std::byte> buffer, std::size_t count) {
  if (count == 0) return std::vector<Process>();
  const std::size_t bytes = written(buffer);
  for (const std::size_t length : kLengths) {
    if (bytes != count * length) continue;
    std::vector<Process> processes;
    for (std::size_t i = 0; i < count; ++i) {
      nvml::ProcessHead head;
      std::memcpy(&head, buffer.data() + i * length, sizeof head);
      processes.push_back({head.pid, std::nullopt});
      if (head.used_memory != nvml::kNotAvailable) processes.back().memory_bytes = head.used_memory;
    }
    return processes;
  }
  return std::nullopt;
}

}  // namespace koord::gpu
