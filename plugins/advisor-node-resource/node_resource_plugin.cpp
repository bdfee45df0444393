// SPDX-License-Identifier: Apache-2.0
// advisor-node-resource: reports CPU and memory of the node and of its NUMA nodes.
#include <unistd.h>

#include <optional>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-node-resource/node_files.hpp"
#include "plugins/advisor-node-resource/node_resource.hpp"
#include "plugins/shared/sdk/numa_series.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::Error;
using koord::Result;
using koord::node_resource::CpuSampler;
using koord::node_resource::CpuUsage;
using koord::node_resource::KeptFile;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::NumaSeries;
using koord::plugin::Snapshot;
using koord::plugin::value_or_fail;

constexpr std::chrono::nanoseconds kPeriod = 1s;
// A rate over more than 20 periods does not describe the present. koordlet drops its last value after the same time.
constexpr std::uint64_t kMaxGapNs = std::chrono::nanoseconds(20 * kPeriod).count();

class NodeResource final : public koord::plugin::Advisor {
 public:
  void init() override {
    fs_ = koord::plugin::require<koord_svc_fs>(host(), "koord.fs/1");
    clock_ = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    open_files();
    batch_ = Batch(host());
    cpu_ = define({"node_cpu_usage", "cores", "CPU used on the node, in cores.", 1e-4}).series();
    memory_ =
        define({"node_memory_usage", "bytes",
                "Memory used on the node without what the kernel can reclaim (MemTotal - MemAvailable), in bytes.",
                1024})
            .series();
    numa_cpu_ =
        NumaSeries(define({"node_numa_cpu_usage", "cores", "CPU used on the CPUs of a NUMA node, in cores.", 1e-4}));
    numa_memory_ = NumaSeries(
        define({"node_numa_memory_usage", "bytes",
                "Memory used on a NUMA node without free, file and reclaimable slab pages, in bytes.", 1024}));
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    refresh_topology();
    // Readable values are sent even if a different file cannot be read. The tick fails with the first error.
    std::optional<Error> failure;
    auto keep = [&failure](Result<void> result) {
      if (!result && !failure) failure = result.error();
    };
    keep(sample_cpu());
    keep(sample_memory());
    for (auto& [id, file] : numa_meminfo_) keep(sample_numa_memory(id, file));
    batch_.send(now_ns);
    if (failure) throw Failure(KOORD_E_IO, failure->message());
  }

 private:
  std::string root(std::uint32_t which) const {
    return koord::plugin::text_of(
        [&](char* buf, std::uint64_t cap, std::uint64_t* need) { return fs_->path(host(), which, buf, cap, need); });
  }

  void open_files() {
    const std::string proc = root(KOORD_ROOT_PROC);
    stat_ = value_or_fail(KeptFile::open(proc + "/stat"));
    meminfo_ = value_or_fail(KeptFile::open(proc + "/meminfo"));
    open_numa_files();
    if (numa_meminfo_.empty()) log(KOORD_LOG_INFO, "no NUMA memory on this node: " + why_no_numa_);
  }

  void open_numa_files() {
    auto files = koord::node_resource::open_numa_meminfo(root(KOORD_ROOT_SYS));
    why_no_numa_ = files ? "there is no memory node" : files.error().message();
    if (files)
      numa_meminfo_ = std::move(files).value();
    else
      numa_meminfo_.clear();
  }

  // CPUs and memory nodes may be hot-plugged.
  void refresh_topology() {
    std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_TOPOLOGY) == topology_version_) return;
    topology_version_ = snapshot->version(KOORD_ON_TOPOLOGY);
    open_numa_files();
    numa_node_of_.clear();
    const koord_topology* topology = snapshot->topology();
    for (const koord_cpu& cpu :
         koord::plugin::Strided<koord_cpu>(topology->cpus, topology->n_cpus, topology->cpu_stride))
      if (cpu.numa_node != UINT32_MAX) numa_node_of_[cpu.cpu] = cpu.numa_node;
  }

  Result<void> sample_cpu() {
    std::string_view text = TRY(stat_.read());
    std::uint64_t read_ns = clock_->now_ns(host());
    CpuUsage usage = sampler_.sample(TRY(koord::node_resource::parse_stat(text)), read_ns, numa_node_of_);
    if (usage.node_cores) batch_.add(cpu_, *usage.node_cores);
    for (const auto& [id, cores] : usage.numa_cores) numa_cpu_.add(batch_, id, cores);
    return {};
  }

  Result<void> sample_memory() {
    std::string_view text = TRY(meminfo_.read());
    batch_.add(memory_, TRY(koord::node_resource::parse_used_memory(text)));
    return {};
  }

  Result<void> sample_numa_memory(std::uint32_t id, KeptFile& file) {
    Result<std::string_view> text = file.read();
    // The node was unplugged; the topology will be updated.
    if (!text && text.error().is(std::errc::no_such_device)) return {};
    if (!text) return std::move(text).error();
    numa_memory_.add(batch_, id, TRY(koord::node_resource::parse_numa_used_memory(*text)));
    return {};
  }

  const koord_svc_fs* fs_ = nullptr;
  const koord_svc_clock* clock_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  KeptFile stat_, meminfo_;
  std::map<std::uint32_t, KeptFile> numa_meminfo_;
  std::string why_no_numa_;
  std::map<std::uint32_t, std::uint32_t> numa_node_of_;
  std::uint64_t topology_version_ = 0;
  CpuSampler sampler_{static_cast<double>(::sysconf(_SC_CLK_TCK)), kMaxGapNs};
  std::uint64_t cpu_ = 0, memory_ = 0;
  NumaSeries numa_cpu_, numa_memory_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-node-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=NodeResourceCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.fs/1,koord.clock/1,koord.state/1\nlicense=Apache-2.0\n"
             "description=CPU and memory of the node and its NUMA nodes\n",
             koord::plugin::advisor<NodeResource>("node-resource", kPeriod))
