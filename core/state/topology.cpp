// SPDX-License-Identifier: Apache-2.0
#include "core/state/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::state {
namespace {

// Reads a file that may be missing, because not every kernel, architecture or offline CPU has it.
std::optional<std::string> read_optional(const std::string& path) {
  Result<std::string> text = read_file(path, 1u << 20);
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

std::int32_t read_number(const std::string& path) {
  std::optional<std::string> text = read_optional(path);
  if (!text) return -1;
  Result<std::int64_t> number = parse_int(*text);
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<std::int32_t>(*number) : -1;
}

std::optional<CpuSet> read_set(const std::string& path) {
  std::optional<std::string> text = read_optional(path);
  if (!text) return std::nullopt;
  Result<CpuSet> set = CpuSet::parse(*text);
  return set ? std::optional(*std::move(set)) : std::nullopt;
}

std::int32_t first_of(const std::optional<CpuSet>& set) {
  return set && !set->empty() ? static_cast<std::int32_t>(set->members().front()) : -1;
}

// Returns the id of the level 3 cache. Kernels before 4.11 have no id; the number of the cache's first CPU replaces it.
std::int32_t read_l3(const std::string& cpu_dir) {
  for (int index = 0; index < 8; ++index) {
    std::string cache = cpu_dir + "/cache/index" + std::to_string(index);
    if (read_number(cache + "/level") != 3) continue;
    std::int32_t id = read_number(cache + "/id");
    return id >= 0 ? id : first_of(read_set(cache + "/shared_cpu_list"));
  }
  return -1;
}

// Returns the first CPU of the core. The kernel's core numbers repeat in each socket, so cores are identified by their
// first CPU and numbered later.
std::int32_t read_core(const std::string& topology_dir) {
  for (const char* name : {"/core_cpus_list", "/thread_siblings_list"}) {
    if (std::int32_t first = first_of(read_set(topology_dir + name)); first >= 0) return first;
  }
  return -1;
}

// Returns the package id. Devicetree machines before Linux 5.18 and some hypervisors have none; the number of the
// package's first CPU replaces it.
std::int32_t read_socket(const std::string& topology_dir) {
  if (std::int32_t id = read_number(topology_dir + "/physical_package_id"); id >= 0) return id;
  for (const char* name : {"/package_cpus_list", "/core_siblings_list"}) {
    if (std::int32_t first = first_of(read_set(topology_dir + name)); first >= 0) return first;
  }
  return -1;
}

void number_cores(std::vector<Cpu>& cpus) {
  std::map<std::int32_t, std::int32_t> numbers;
  for (const Cpu& cpu : cpus) {
    if (cpu.core >= 0) numbers.try_emplace(cpu.core, static_cast<std::int32_t>(numbers.size()));
  }
  for (Cpu& cpu : cpus) {
    if (cpu.core >= 0) cpu.core = numbers[cpu.core];
  }
}

Cpu read_cpu(const std::string& cpus_dir, unsigned number, bool online) {
  std::string dir = cpus_dir + "/cpu" + std::to_string(number);
  Cpu cpu;
  cpu.cpu = static_cast<std::int32_t>(number);
  cpu.online = online;
  if (!online) return cpu;
  cpu.core = read_core(dir + "/topology");
  cpu.socket = read_socket(dir + "/topology");
  cpu.l3 = read_l3(dir);
  return cpu;
}

// Returns the bytes of a line like "Node 0 MemTotal:       24689764 kB".
std::int64_t parse_memory_total(std::string_view meminfo) {
  while (std::optional<std::string_view> line = next_field(meminfo, '\n')) {
    std::size_t key = line->find("MemTotal:");
    if (key == std::string_view::npos) continue;
    line->remove_prefix(key + 9);
    Result<std::uint64_t> kib = parse_uint(next_word(*line).value_or(""));
    return kib && *kib <= INT64_MAX / 1024 ? static_cast<std::int64_t>(*kib * 1024) : 0;
  }
  return 0;
}

// Finds the node of each offline CPU. No node's list contains it, but its directory still has the link to the node.
void place_offline_cpus(const std::string& cpus_dir, const CpuSet& nodes, std::vector<Cpu>& cpus) {
  for (Cpu& cpu : cpus) {
    if (cpu.online) continue;
    const std::string link = cpus_dir + "/cpu" + std::to_string(cpu.cpu) + "/node";
    cpu.numa_node = -1;
    for (unsigned node : nodes.members()) {
      if (::access((link + std::to_string(node)).c_str(), F_OK) == 0) cpu.numa_node = static_cast<std::int32_t>(node);
    }
  }
}

// Reads the NUMA nodes. A kernel without NUMA lacks this directory; in that case, node 0 has all CPUs and memory. A
// node of an accelerator (generic initiator) without CPUs and memory cannot run workloads and is left out.
void read_numa_nodes(const NodeRoots& roots, Topology& topology) {
  const std::string nodes_dir = roots.sys + "/devices/system/node";
  const CpuSet nodes = read_set(nodes_dir + "/online").value_or(CpuSet());
  const CpuSet initiators = read_set(nodes_dir + "/has_generic_initiator").value_or(CpuSet());
  for (unsigned node : nodes.members()) {
    std::string dir = nodes_dir + "/node" + std::to_string(node);
    CpuSet cpus = read_set(dir + "/cpulist").value_or(CpuSet());
    for (Cpu& cpu : topology.cpus) {
      if (cpus.contains(static_cast<unsigned>(cpu.cpu))) cpu.numa_node = static_cast<std::int32_t>(node);
    }
    const std::int64_t memory_bytes = parse_memory_total(read_optional(dir + "/meminfo").value_or(""));
    if (initiators.contains(node) && cpus.empty() && memory_bytes == 0) continue;
    topology.numa_nodes.push_back({static_cast<std::int32_t>(node), memory_bytes});
  }
  if (!nodes.empty()) place_offline_cpus(roots.sys + "/devices/system/cpu", nodes, topology.cpus);
  if (!topology.numa_nodes.empty()) return;
  std::string meminfo = read_optional(roots.proc + "/meminfo").value_or("");
  topology.numa_nodes.push_back({0, parse_memory_total(meminfo)});
}

}  // namespace

Result<Topology> read_topology(const NodeRoots& roots, const CpuSet& reserved) {
  std::string dir = roots.sys + "/devices/system/cpu";
  Result<std::string> online_text = read_file(dir + "/online", 1u << 20);
  if (!online_text) return std::move(online_text).error();
  Result<CpuSet> online = CpuSet::parse(*online_text);
  if (!online) return std::move(online).error().context("'" + dir + "/online'");
  if (online->empty()) return invalid("'" + dir + "/online' lists no CPU");
  CpuSet present = read_set(dir + "/present").value_or(CpuSet()) | *online;
  Topology topology;
  for (unsigned number : present.members()) {
    Cpu cpu = read_cpu(dir, number, online->contains(number));
    cpu.reserved = reserved.contains(number);
    topology.cpus.push_back(cpu);
  }
  number_cores(topology.cpus);
  read_numa_nodes(roots, topology);
  topology.memory_bytes = parse_memory_total(read_file(roots.proc + "/meminfo").value_or(""));
  return topology;
}

}  // namespace koord::state
