// SPDX-License-Identifier: Apache-2.0
// advisor-page-cache: reports used memory including page cache, for the node, pods, containers and services.
#include "koordetector/subjects.hpp"
#include "plugins/shared/memory/meminfo.hpp"
#include "plugins/shared/memory/memory_stat_file.hpp"

namespace {

using namespace std::chrono_literals;
using koord::memory::MemoryStatFile;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Files;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;

constexpr double kResolution = 4096;

struct Meter {
  std::uint64_t series;
  MemoryStatFile stat;
};

class PageCache final : public koord::plugin::Advisor {
 public:
  void init() override {
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    files_ = Files(host());
    batch_ = Batch(host());
    node_ = define({"node_memory_usage_with_page_cache", "bytes",
                    "Memory used on the node with page cache and slab (MemTotal - MemFree), in bytes.", 1024})
                .series();
    pod_ = define(
        {"pod_memory_usage_with_page_cache", "bytes", "Memory of a pod with its page cache, in bytes.", kResolution});
    container_ = define({"container_memory_usage_with_page_cache", "bytes",
                         "Memory of a container or service with its page cache, in bytes.", kResolution});
  }

  // Measures the node even while the pods are unknown.
  void collect(std::uint64_t now_ns, std::uint64_t) override {
    if (auto snapshot = Snapshot::if_known(host(), state_))
      meters_.follow(*snapshot, [this](const Subject& subject) { return meter_of(subject); });
    std::optional<Failure> pods =
        meters_.for_each([&](Meter& meter, std::string_view dir) { measure(meter, dir, now_ns); });
    std::optional<Failure> node = measure_node();
    batch_.send(now_ns);
    if (node) throw *node;
    if (pods) throw *pods;
  }

 private:
  Meter meter_of(const Subject& subject) const {
    return {(subject.is_pod() ? pod_ : container_).series(subject.handle), {}};
  }

  void measure(Meter& meter, std::string_view dir, std::uint64_t now_ns) {
    auto stat = meter.stat.read_new(host(), cgroup_, dir, now_ns);
    if (!stat) return;
    if (auto bytes = koord::memory::usage_with_page_cache_bytes(*stat)) batch_.add(meter.series, *bytes);
  }

  std::optional<Failure> measure_node() {
    try {
      auto bytes = koord::memory::used_with_page_cache_bytes(files_.read(KOORD_ROOT_PROC, "meminfo"));
      if (!bytes) return Failure(KOORD_E_IO, "/proc/meminfo: " + bytes.error().message());
      batch_.add(node_, *bytes);
    } catch (const Failure& failure) {
      return failure;
    }
    return std::nullopt;
  }

  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  Files files_;
  std::uint64_t node_ = 0;
  Metric pod_, container_;
  Subjects<Meter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-page-cache\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=PageCacheCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1,koord.fs/1\nlicense=Apache-2.0\n"
             "description=Memory in use with the page cache, of node, pods, containers and services\n",
             koord::plugin::advisor<PageCache>("page-cache", 1s))
