// SPDX-License-Identifier: Apache-2.0
// /proc/cpuinfo, meminfo and names of huge page directories of any kernel, and the JSON made from them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-node-info/node_info.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::node_info;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const CpuFacts facts{.model = parse_cpuinfo(text), .processors = {Processor{}}};
  if (cpu_info_json(facts).empty()) std::abort();
  MemoryNode node{.id = 0, .meminfo = parse_meminfo(text)};
  if (auto pages = parse_hugepages_name(text)) node.huge_pages.push_back({*pages, 1, 1});
  if (numa_info_json({node}).empty() || page_size_name(size).empty()) std::abort();
  return 0;
}
