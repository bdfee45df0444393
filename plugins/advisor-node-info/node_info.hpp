// SPDX-License-Identifier: Apache-2.0
// Converts text of the kernel's files about a node's hardware to the stored facts. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::node_info {

// Empty: unknown.
struct CpuModel {
  std::string model, vendor;

  bool operator==(const CpuModel&) const = default;
};

// Parses /proc/cpuinfo for the first CPU. x86 has "model name" and "vendor_id", POWER has "cpu". arm64 only has numbers
// of implementer and part, which are replaced by known names (Documentation/arch/arm64/cpu-feature-registers.rst,
// MIDR_EL1).
CpuModel parse_cpuinfo(std::string_view text);

// An online CPU. `core` and `l3` are the numbers of the state's topology. Sockets are numbered by their first CPU, as
// in lscpu.
struct Processor {
  std::int32_t cpu = 0, core = 0, socket = 0, numa_node = 0;
  std::int32_t l1d = 0, l3 = 0;  // ids of caches

  bool operator==(const Processor&) const = default;
};

struct CpuFacts {
  CpuModel model;
  std::optional<bool> smt;    // whether the kernel reports that hardware threads are on
  std::optional<bool> turbo;  // whether the clock may exceed its nominal rate
  std::string l3_mask;        // mask of resctrl in hexadecimal; empty: no resctrl or no L3 allocation
  std::vector<Processor> processors;
};

struct CpuCounts {
  std::size_t cpus = 0, cores = 0, sockets = 0;
  std::size_t threads_per_core = 0;  // maximum number of online threads of a core
};

CpuCounts count(const std::vector<Processor>& processors);
// Numbers sockets by their first CPU. A CPU without a core gets its own core.
void number_sockets_and_cores(std::vector<Processor>& processors);
// Returns the kernel's value, or else derives it from the cores.
bool has_threads(const CpuFacts& facts);

// Values of "MemTotal: 5 kB", or of a memory node "Node 0 MemTotal: 5 kB", in KiB or as a number of pages.
using Meminfo = std::map<std::string, std::uint64_t, std::less<>>;
Meminfo parse_meminfo(std::string_view text);

struct HugePages {
  std::uint64_t size_kib = 0, total = 0, free = 0;

  bool operator==(const HugePages&) const = default;
};

// Returns 2048 for "hugepages-2048kB".
std::optional<std::uint64_t> parse_hugepages_name(std::string_view name);
// Returns the size in Kubernetes' format: "2Mi", "1Gi".
std::string page_size_name(std::uint64_t size_kib);

struct MemoryNode {
  std::uint32_t id = 0;
  Meminfo meminfo;
  std::vector<HugePages> huge_pages;
};

// Return the JSON of koordlet's facts node_cpu_info and node_numa_info.
std::string cpu_info_json(const CpuFacts& facts);
std::string numa_info_json(const std::vector<MemoryNode>& nodes);

}  // namespace koord::node_info
