// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-info/node_files.hpp"

#include <algorithm>

#include "core/base/file.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::node_info {
namespace {

// Returns the id of the level 1 data cache, or the number of its first CPU if the kernel has no id.
std::int32_t read_l1d(const std::string& cpu_dir) {
  for (const std::string& name : node::names_in(cpu_dir + "/cache")) {
    const std::string cache = cpu_dir + "/cache/" + name;
    if (node::read_number(cache + "/level") != 1 || node::read_text(cache + "/type") == "Instruction") continue;
    if (auto id = node::read_number(cache + "/id")) return static_cast<std::int32_t>(*id);
    const CpuSet shared = node::read_set(cache + "/shared_cpu_list").value_or(CpuSet());
    if (!shared.empty()) return static_cast<std::int32_t>(shared.members().front());
  }
  return 0;
}

std::optional<bool> read_switch(const std::string& path, std::int64_t on) {
  const std::optional<std::int64_t> number = node::read_number(path);
  return number ? std::optional(*number == on) : std::nullopt;
}

// intel_pstate reports "no turbo"; acpi-cpufreq, amd-pstate and the arm64 drivers report "boost".
std::optional<bool> read_turbo(const std::string& cpus_dir) {
  if (auto turbo = read_switch(cpus_dir + "/intel_pstate/no_turbo", 0)) return turbo;
  return read_switch(cpus_dir + "/cpufreq/boost", 1);
}

// With code and data prioritization there is no common L3 mask.
std::string read_l3_mask(const std::string& resctrl) {
  for (const char* resource : {"L3", "L3DATA", "L3CODE"}) {
    if (auto mask = node::read_text(resctrl + "/info/" + resource + "/cbm_mask")) return *mask;
  }
  return "";
}

std::vector<HugePages> read_huge_pages(const std::string& directory) {
  std::vector<HugePages> sizes;
  for (const std::string& name : node::names_in(directory)) {
    const std::optional<std::uint64_t> size = parse_hugepages_name(name);
    const std::optional<std::int64_t> total = node::read_number(directory + "/" + name + "/nr_hugepages");
    const std::optional<std::int64_t> free = node::read_number(directory + "/" + name + "/free_hugepages");
    if (size && total && free && *total >= 0 && *free >= 0)
      sizes.push_back({*size, static_cast<std::uint64_t>(*total), static_cast<std::uint64_t>(*free)});
  }
  std::sort(sizes.begin(), sizes.end(), [](const HugePages& a, const HugePages& b) { return a.size_kib < b.size_kib; });
  return sizes;
}

Result<MemoryNode> read_memory_node(std::uint32_t id, const std::string& meminfo, const std::string& hugepages) {
  const std::string text = TRY(read_file(meminfo, 1u << 20));
  MemoryNode node{.id = id, .meminfo = parse_meminfo(text), .huge_pages = read_huge_pages(hugepages)};
  if (!node.meminfo.contains("MemTotal")) return invalid("'" + meminfo + "' has no line 'MemTotal'");
  return node;
}

}  // namespace

CpuFacts read_cpu_facts(const NodeRoots& roots, std::vector<Processor> online) {
  const std::string cpus_dir = roots.sys + "/devices/system/cpu";
  CpuFacts facts;
  facts.model = parse_cpuinfo(node::read_text(roots.proc + "/cpuinfo").value_or(""));
  facts.smt = read_switch(cpus_dir + "/smt/active", 1);
  facts.turbo = read_turbo(cpus_dir);
  facts.l3_mask = read_l3_mask(roots.resctrl);
  for (Processor& processor : online) processor.l1d = read_l1d(cpus_dir + "/cpu" + std::to_string(processor.cpu));
  facts.processors = std::move(online);
  number_sockets_and_cores(facts.processors);
  return facts;
}

Result<std::vector<MemoryNode>> read_memory_nodes(const NodeRoots& roots, const std::vector<std::uint32_t>& ids) {
  const std::string nodes_dir = roots.sys + "/devices/system/node";
  std::vector<MemoryNode> nodes;
  if (!node::exists(nodes_dir + "/online")) {
    nodes.push_back(TRY(read_memory_node(0, roots.proc + "/meminfo", roots.sys + "/kernel/mm/hugepages")));
    return nodes;
  }
  for (std::uint32_t id : ids) {
    const std::string dir = nodes_dir + "/node" + std::to_string(id);
    nodes.push_back(TRY(read_memory_node(id, dir + "/meminfo", dir + "/hugepages")));
  }
  return nodes;
}

}  // namespace koord::node_info
