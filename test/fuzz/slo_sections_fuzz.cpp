// SPDX-License-Identifier: Apache-2.0
// A NodeSLO's text and a pod's annotations as strategies read them, with arbitrary content: no value is outside its
// range, and rejected values are reported.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/shared/slo/node_slo.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::slo;

namespace {

bool is_percent(const Number& value) { return !value || (*value >= 0 && *value <= 100); }

void check_memory(const MemoryQos& memory) {
  check(is_percent(memory.min_limit_percent) && is_percent(memory.throttling_percent) &&
        is_percent(memory.wmark_ratio));
  check(!memory.priority || (*memory.priority >= 0 && *memory.priority <= 12));
  check(!memory.page_cache_limit_bytes || *memory.page_cache_limit_bytes >= 0);
}

void check_blocks(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    check(!block.name.empty() && block.name.find('\0') == std::string::npos);
    check(!block.io.weight_percent || (*block.io.weight_percent >= 1 && *block.io.weight_percent <= 100));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Problems problems;
  const PodMemoryQos pod = memory_qos_of(MemoryQos{}, KOORD_QOS_BE, text, problems);
  check_memory(pod.values);
  const CpuBurst burst = cpu_burst_of(CpuBurst{}, text, problems);
  check(!burst.cfs_quota_burst_percent || *burst.cfs_quota_burst_percent >= 100);
  if (const auto blocks = blocks_of(text, problems)) check_blocks(*blocks);
  const koord::Result<ParsedSlo> parsed = parse_node_slo(text);
  if (!parsed) return 0;
  for (const std::string& problem : parsed->problems) check(problem.find(": ") != std::string::npos);
  if (parsed->slo.threshold) check(is_percent(parsed->slo.threshold->cpu_suppress_threshold_percent));
  if (!parsed->slo.resource_qos || !parsed->slo.resource_qos->be) return 0;
  if (const auto& memory = parsed->slo.resource_qos->be->memory) check_memory(*memory);
  if (const auto& blkio = parsed->slo.resource_qos->be->blkio) check_blocks(blkio->blocks);
  return 0;
}
