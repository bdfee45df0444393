// SPDX-License-Identifier: Apache-2.0
// Hardware of a node, from the text of the kernel's files to the stored facts. Pure: values in, values out.
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

// /proc/cpuinfo, of the first CPU: x86 has "model name" and "vendor_id", arm64 only the numbers of implementer and
// part, for which known names stand in (arm64: Documentation/arch/arm64/cpu-feature-registers.rst, MIDR_EL1), POWER
// "cpu".
CpuModel parse_cpuinfo(std::string_view text);

// An online CPU. `core` and `l3` are those of the state's topology; sockets are numbered by their first CPU, as lscpu
// does.
struct Processor {
  std::int32_t cpu = 0, core = 0, socket = 0, numa_node = 0;
  std::int32_t l1d = 0, l3 = 0;  // ids of caches

  bool operator==(const Processor&) const = default;
};

struct CpuFacts {
  CpuModel model;
  std::optional<bool> smt;    // does the kernel say that hardware threads are on
  std::optional<bool> turbo;  // may the clock rise above the nominal one
  std::string l3_mask;        // of resctrl, hexadecimal; empty: no resctrl, or no L3 allocation
  std::vector<Processor> processors;
};

struct CpuCounts {
  std::size_t cpus = 0, cores = 0, sockets = 0;
  std::size_t threads_per_core = 0;  // of the core that has most of them online
};

CpuCounts count(const std::vector<Processor>& processors);
// Sockets by number of their first CPU; for a CPU without a core, one of its own.
void number_sockets_and_cores(std::vector<Processor>& processors);
// Returns the kernel's statement, else a conclusion from the cores.
bool has_threads(const CpuFacts& facts);

// "MemTotal: 5 kB", and of a memory node "Node 0 MemTotal: 5 kB"; KiB, or a count of pages.
using Meminfo = std::map<std::string, std::uint64_t, std::less<>>;
Meminfo parse_meminfo(std::string_view text);

struct HugePages {
  std::uint64_t size_kib = 0, total = 0, free = 0;

  bool operator==(const HugePages&) const = default;
};

// "hugepages-2048kB" is 2048.
std::optional<std::uint64_t> parse_hugepages_name(std::string_view name);
// As Kubernetes writes it: "2Mi", "1Gi".
std::string page_size_name(std::uint64_t size_kib);

struct MemoryNode {
  std::uint32_t id = 0;
  Meminfo meminfo;
  std::vector<HugePages> huge_pages;
};

// The JSON of koordlet's facts node_cpu_info and node_numa_info.
std::string cpu_info_json(const CpuFacts& facts);
std::string numa_info_json(const std::vector<MemoryNode>& nodes);

}  // namespace koord::node_info
