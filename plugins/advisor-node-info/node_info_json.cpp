// SPDX-License-Identifier: Apache-2.0
// The JSON has koordlet's structure and names, because its consumers decode it by these names.
#include "core/json/writer.hpp"
#include "plugins/advisor-node-info/node_info.hpp"

namespace koord::node_info {
namespace {

void write(JsonWriter& json, const Processor& processor) {
  json.begin_object().member("cpu", processor.cpu).member("core", processor.core).member("socket", processor.socket);
  json.member("node", processor.numa_node).member("l1dl1il2", std::to_string(processor.l1d));
  json.member("l3", processor.l3).member("online", "yes").end_object();
}

// {"<id>": [processors]}
void write_by(JsonWriter& json, std::string_view name, const std::vector<Processor>& processors,
              std::int32_t Processor::*id) {
  std::map<std::int32_t, std::vector<const Processor*>> groups;
  for (const Processor& processor : processors) groups[processor.*id].push_back(&processor);
  json.key(name).begin_object();
  for (const auto& [number, members] : groups) {
    json.key(number).begin_array();
    for (const Processor* member : members) write(json, *member);
    json.end_array();
  }
  json.end_object();
}

struct MeminfoName {
  std::string_view kernel, koordlet;
};
constexpr MeminfoName meminfo_names[] = {
    {"MemTotal", "mem_total"},
    {"MemFree", "mem_free"},
    {"MemAvailable", "mem_available"},
    {"Buffers", "buffers"},
    {"Cached", "cached"},
    {"SwapCached", "swap_cached"},
    {"Active", "active"},
    {"Inactive", "inactive"},
    {"Active(anon)", "active_anon"},
    {"Inactive(anon)", "inactive_anon"},
    {"Active(file)", "active_file"},
    {"Inactive(file)", "inactive_file"},
    {"Unevictable", "unevictable"},
    {"Mlocked", "mlocked"},
    {"SwapTotal", "swap_total"},
    {"SwapFree", "swap_free"},
    {"Dirty", "dirty"},
    {"Writeback", "write_back"},
    {"AnonPages", "anon_pages"},
    {"Mapped", "mapped"},
    {"Shmem", "shmem"},
    {"Slab", "slab"},
    {"SReclaimable", "s_reclaimable"},
    {"SUnreclaim", "s_unclaim"},
    {"KernelStack", "kernel_stack"},
    {"PageTables", "page_tables"},
    {"NFS_Unstable", "nfs_unstable"},
    {"Bounce", "bounce"},
    {"WritebackTmp", "writeback_tmp"},
    {"CommitLimit", "commit_limit"},
    {"Committed_AS", "committed_as"},
    {"VmallocTotal", "vmalloc_total"},
    {"VmallocUsed", "vmalloc_used"},
    {"VmallocChunk", "vmalloc_chunk"},
    {"HardwareCorrupted", "hardware_corrupted"},
    {"AnonHugePages", "anon_huge_pages"},
    {"HugePages_Total", "huge_pages_total"},
    {"HugePages_Free", "huge_pages_free"},
    {"HugePages_Rsvd", "huge_pages_rsvd"},
    {"HugePages_Surp", "huge_pages_surp"},
    {"Hugepagesize", "hugepagesize"},
    {"DirectMap4k", "direct_map_4k"},
    {"DirectMap2M", "direct_map_2M"},
    {"DirectMap1G", "direct_map_1G"},
};

// Values unknown to this kernel are left out.
void write(JsonWriter& json, const Meminfo& meminfo) {
  json.begin_object();
  for (const MeminfoName& name : meminfo_names) {
    if (auto entry = meminfo.find(name.kernel); entry != meminfo.end()) json.member(name.koordlet, entry->second);
  }
  json.end_object();
}

void write(JsonWriter& json, const std::vector<HugePages>& sizes) {
  json.begin_object();
  for (const HugePages& pages : sizes) {
    json.key(pages.size_kib)
        .begin_object()
        .member("numPages", pages.total)
        .member("pageSize", pages.size_kib)
        .end_object();
  }
  json.end_object();
}

}  // namespace

std::string cpu_info_json(const CpuFacts& facts) {
  JsonWriter json;
  json.begin_object().key("basicInfo").begin_object();
  json.member("cpuModel", facts.model.model).member("hyperThreadEnabled", has_threads(facts));
  json.member("turboEnabled", facts.turbo.value_or(false)).member("catL3CbmMask", facts.l3_mask);
  json.member("vendorID", facts.model.vendor).end_object();
  json.key("processorInfos").begin_array();
  for (const Processor& processor : facts.processors) write(json, processor);
  json.end_array().key("totalInfo").begin_object().member("numberCPUs", facts.processors.size());
  write_by(json, "coreToCPU", facts.processors, &Processor::core);
  write_by(json, "nodeToCPU", facts.processors, &Processor::numa_node);
  write_by(json, "socketToCPU", facts.processors, &Processor::socket);
  write_by(json, "l3ToCPU", facts.processors, &Processor::l3);
  json.end_object().end_object();
  return json.text();
}

std::string numa_info_json(const std::vector<MemoryNode>& nodes) {
  JsonWriter json;
  json.begin_object().key("numaInfos").begin_array();
  for (const MemoryNode& node : nodes) {
    json.begin_object().member("numaNodeID", node.id).key("memInfo");
    write(json, node.meminfo);
    json.key("hugePages");
    write(json, node.huge_pages);
    json.end_object();
  }
  json.end_array().key("memInfoMap").begin_object();
  for (const MemoryNode& node : nodes) write(json.key(node.id), node.meminfo);
  json.end_object().key("hugePagesMap").begin_object();
  for (const MemoryNode& node : nodes) write(json.key(node.id), node.huge_pages);
  json.end_object().end_object();
  return json.text();
}

}  // namespace koord::node_info
