// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_nodes.hpp"

#include <string>

#include "core/base/cpu_set.hpp"

namespace koord::test {
namespace {

const std::string kCpus = "sys/devices/system/cpu";
const std::string kNodes = "sys/devices/system/node";

std::string number(unsigned value) { return std::to_string(value); }

// Writes the files of a machine into a FakeNode.
class Writer {
 public:
  Writer(FakeNode& node, const Machine& machine) : node_(node), machine_(machine) {
    for (unsigned cpu = 0; cpu < machine.cpus(); ++cpu) online_.insert(cpu);
    for (unsigned cpu : machine.offline) online_ = online_ - set_of(cpu);
  }

  void write() {
    for (unsigned cpu = 0; cpu < machine_.cpus(); ++cpu) write_cpu(cpu);
    write_cpu_lists();
    write_cpuinfo();
    if (machine_.has_numa) write_numa_nodes();
    write_huge_pages("sys/kernel/mm/hugepages");
    const unsigned with_memory = machine_.has_numa ? machine_.numa_nodes : 1;
    node_.write("proc/meminfo", meminfo("", machine_.memory_kib * with_memory));
  }

 private:
  static CpuSet set_of(unsigned cpu) {
    CpuSet set;
    set.insert(cpu);
    return set;
  }
  // The place of a CPU on the machine.
  unsigned core_of(unsigned cpu) const { return cpu % machine_.cores; }
  unsigned socket_of(unsigned cpu) const { return core_of(cpu) * machine_.sockets / machine_.cores; }
  unsigned node_of(unsigned cpu) const { return core_of(cpu) * machine_.numa_nodes / machine_.cores; }

  template <class Of>
  CpuSet online_with(unsigned id, Of of) const {
    CpuSet set;
    for (unsigned cpu : online_.members()) {
      if (of(cpu) == id) set.insert(cpu);
    }
    return set;
  }
  CpuSet core_mates(unsigned cpu) const {
    return online_with(core_of(cpu), [this](unsigned other) { return core_of(other); });
  }
  CpuSet socket_mates(unsigned cpu) const {
    return online_with(socket_of(cpu), [this](unsigned other) { return socket_of(other); });
  }
  CpuSet node_mates(unsigned id) const {
    return online_with(id, [this](unsigned other) { return node_of(other); });
  }

  void write_cpu(unsigned cpu) {
    const std::string dir = kCpus + "/cpu" + number(cpu);
    const bool is_online = online_.contains(cpu);
    node_.remove(dir);
    node_.make_directory(dir + "/");
    if (cpu > 0) node_.write(dir + "/online", is_online ? "1\n" : "0\n");
    if (machine_.has_numa) node_.link(dir + "/node" + number(node_of(cpu)), "../../node/node" + number(node_of(cpu)));
    if (is_online) write_topology(cpu, dir);
  }

  void write_topology(unsigned cpu, const std::string& dir) {
    const std::string core = core_mates(cpu).list() + "\n", socket = socket_mates(cpu).list() + "\n";
    const unsigned package = machine_.is_arm64 ? 36 + socket_of(cpu) * 3144 : socket_of(cpu);
    node_.write(dir + "/topology/physical_package_id", number(package) + "\n");
    node_.write(dir + "/topology/core_id", number(core_of(cpu) % (machine_.cores / machine_.sockets)) + "\n");
    for (const char* name : {"core_cpus_list", "thread_siblings_list"}) node_.write(dir + "/topology/" + name, core);
    for (const char* name : {"package_cpus_list", "core_siblings_list"}) node_.write(dir + "/topology/" + name, socket);
    write_cache(dir + "/cache/index0", 1, "Data", core_of(cpu), core);
    write_cache(dir + "/cache/index1", 1, "Instruction", core_of(cpu), core);
    write_cache(dir + "/cache/index2", 2, "Unified", core_of(cpu), core);
    write_cache(dir + "/cache/index3", 3, "Unified", socket_of(cpu), socket);
  }

  void write_cache(const std::string& dir, unsigned level, const char* type, unsigned id, const std::string& shared) {
    node_.write(dir + "/level", number(level) + "\n");
    node_.write(dir + "/type", std::string(type) + "\n");
    node_.write(dir + "/shared_cpu_list", shared);
    if (!machine_.is_arm64) node_.write(dir + "/id", number(id) + "\n");
  }

  void write_cpu_lists() {
    CpuSet present;
    for (unsigned cpu = 0; cpu < machine_.cpus(); ++cpu) present.insert(cpu);
    node_.write(kCpus + "/online", online_.list() + "\n");
    node_.write(kCpus + "/offline", (present - online_).list() + "\n");
    for (const char* name : {"/present", "/possible"}) node_.write(kCpus + name, present.list() + "\n");
    node_.write(kCpus + "/smt/active", machine_.threads > 1 ? "1\n" : "0\n");
    node_.write(kCpus + "/smt/control", machine_.threads > 1 ? "on\n"
                                        : machine_.is_arm64  ? "notimplemented\n"
                                                             : "off\n");
  }

  void write_cpuinfo() {
    std::string text;
    for (unsigned cpu : online_.members()) text += machine_.is_arm64 ? arm64_entry(cpu) : x86_entry(cpu);
    node_.write("proc/cpuinfo", text);
  }
  static std::string arm64_entry(unsigned cpu) {
    return "processor\t: " + number(cpu) +
           "\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes atomics\nCPU implementer\t: 0x41\n"
           "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n";
  }
  std::string x86_entry(unsigned cpu) const {
    return "processor\t: " + number(cpu) + "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n" +
           "model name\t: Intel(R) Xeon(R) Platinum 8369B CPU @ 2.70GHz\nphysical id\t: " + number(socket_of(cpu)) +
           "\nflags\t\t: fpu vme ht cat_l3 mba cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local\n\n";
  }

  void write_numa_nodes() {
    CpuSet online, initiators;
    for (unsigned id = 0; id < machine_.numa_nodes + machine_.generic_initiators; ++id) {
      const bool is_initiator = id >= machine_.numa_nodes;
      const std::string dir = kNodes + "/node" + number(id);
      online.insert(id);
      if (is_initiator) initiators.insert(id);
      node_.write(dir + "/cpulist", (is_initiator ? CpuSet() : node_mates(id)).list() + "\n");
      node_.write(dir + "/meminfo", meminfo("Node " + number(id) + " ", is_initiator ? 0 : machine_.memory_kib));
      if (!is_initiator) write_huge_pages(dir + "/hugepages");
      node_.remove("sys/bus/node/devices/node" + number(id));
      node_.link("sys/bus/node/devices/node" + number(id), "../../../devices/system/node/node" + number(id));
    }
    for (const char* name : {"/online", "/possible"}) node_.write(kNodes + name, online.list() + "\n");
    for (const char* name : {"/has_cpu", "/has_memory"})
      node_.write(kNodes + name, (online - initiators).list() + "\n");
    node_.write(kNodes + "/has_generic_initiator", initiators.list() + "\n");
  }

  // Writes 64 huge pages of 2 MiB, half of them free, and none of the other sizes.
  void write_huge_pages(const std::string& dir) {
    const std::vector<unsigned> sizes_kib =
        machine_.page_kib == 64 ? std::vector<unsigned>{2048, 524288, 16777216} : std::vector<unsigned>{2048, 1048576};
    for (unsigned size : sizes_kib) {
      const std::string files = dir + "/hugepages-" + number(size) + "kB";
      node_.write(files + "/nr_hugepages", size == 2048 ? "64\n" : "0\n");
      node_.write(files + "/free_hugepages", size == 2048 ? "32\n" : "0\n");
    }
  }

  static std::string meminfo(const std::string& prefix, std::uint64_t total_kib) {
    const auto line = [&](const char* key, std::uint64_t kib) {
      return prefix + key + ":       " + std::to_string(kib) + " kB\n";
    };
    std::string text = line("MemTotal", total_kib) + line("MemFree", total_kib / 2);
    if (prefix.empty()) text += line("MemAvailable", total_kib / 4 * 3);
    text += line("Active(file)", total_kib / 16) + line("Inactive(file)", total_kib / 16);
    text += line("SReclaimable", total_kib / 64) + prefix + "HugePages_Total:    64\n" + prefix +
            "HugePages_Free:     32\n";
    return text;
  }

  FakeNode& node_;
  const Machine& machine_;
  CpuSet online_;
};

}  // namespace

Machine two_sockets_with_threads() { return {.sockets = 2, .numa_nodes = 2, .cores = 8, .threads = 2}; }

Machine hyper_threads_off() { return {.sockets = 2, .numa_nodes = 2, .cores = 8}; }

Machine without_cpus(Machine machine, std::vector<unsigned> offline) {
  machine.offline = std::move(offline);
  return machine;
}

Machine without_numa() { return {.cores = 4, .has_numa = false}; }

Machine four_numa_nodes() { return {.numa_nodes = 4, .cores = 16}; }

Machine arm64_server() { return {.sockets = 2, .numa_nodes = 2, .cores = 8, .is_arm64 = true}; }

Machine arm64_with_64k_pages() {
  Machine machine = arm64_server();
  machine.page_kib = 64;
  return machine;
}

Machine with_generic_initiator() { return {.sockets = 2, .numa_nodes = 2, .cores = 8, .generic_initiators = 1}; }

void lay_out(FakeNode& node, const Machine& machine) { Writer(node, machine).write(); }

}  // namespace koord::test
