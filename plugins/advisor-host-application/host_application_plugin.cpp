// SPDX-License-Identifier: Apache-2.0
// advisor-host-application: reports CPU and memory of the host applications in the NodeSLO.
#include <memory>

#include "plugins/advisor-host-application/application_meter.hpp"
#include "plugins/shared/node/pod_places.hpp"

namespace {

using namespace std::chrono_literals;
using koord::host_application::Application;
using koord::host_application::ApplicationMeter;
using koord::host_application::Applications;
using koord::host_application::Services;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Snapshot;

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::uint64_t kMaxGapNs = std::chrono::nanoseconds(20 * kPeriod).count();

class HostApplication final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    services_.host = host();
    services_.cgroup = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    services_.metrics = koord::plugin::require<koord_svc_metrics>(host(), "koord.metrics/1");
    services_.cpu = define({"host_application_cpu_usage", "cores", "CPU used by a host application, in cores.", 1e-4});
    services_.memory = define({"host_application_memory_usage", "bytes",
                               "Memory of a host application without page cache and slab, in bytes.", 4096});
    services_.memory_with_page_cache = define({"host_application_memory_usage_with_page_cache", "bytes",
                                               "Memory of a host application with its page cache, in bytes.", 4096});
    services_.numa_memory =
        define({"host_application_numa_memory_usage", "bytes",
                "Memory of a NUMA node that a host application uses, without page cache and slab, in bytes.", 4096});
    running_ =
        define({"host_applications", "applications", "Host applications of the NodeSLO with an existing cgroup."})
            .series();
    batch_ = Batch(host());
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    std::optional<Failure> failure;
    std::size_t running = 0;
    for (auto& [name, meter] : meters_) {
      try {
        running += meter->measure(now_ns, batch_) ? 1 : 0;
      } catch (const Failure& failed) {
        failure = Failure(failed.status(), "host application '" + name + "': " + failed.what());
        ++running;
      }
    }
    batch_.add(running_, static_cast<double>(running));
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  using Meters = std::map<std::string, std::unique_ptr<ApplicationMeter>>;

  // Reads the kubelet's directories from the pods and the NUMA nodes from the topology.
  void follow_state() {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return;
    const auto version = [&](std::uint32_t part) { return snapshot->version(part); };
    const std::vector<std::uint64_t> versions = {version(KOORD_ON_NODE_SLO), version(KOORD_ON_PODS),
                                                 version(KOORD_ON_TOPOLOGY)};
    if (versions == versions_) return;
    const bool new_topology = versions_.empty() || versions[2] != versions_[2];
    if (new_topology) {
      meters_.clear();
      services_.numa_nodes = koord::memory::numa_nodes(snapshot->topology());
    }
    keep_or_make(applications_of(*snapshot));
    versions_ = versions;
  }

  // Returns the applications. Errors are reported once for each NodeSLO.
  std::vector<Application> applications_of(const Snapshot& snapshot) {
    auto found = koord::host_application::parse_host_applications(
        snapshot.node_slo(), koord::kube::kube_roots(koord::kube::places_of(snapshot.pods())));
    const bool new_slo = snapshot.version(KOORD_ON_NODE_SLO) != slo_version_;
    slo_version_ = snapshot.version(KOORD_ON_NODE_SLO);
    if (!found) {
      if (new_slo) log(KOORD_LOG_WARN, found.error().message() + ", measuring no host application");
      return {};
    }
    for (const std::string& refused : found->refused)
      if (new_slo) log(KOORD_LOG_WARN, refused + ", ignoring it");
    return std::move(found->applications);
  }

  void keep_or_make(std::vector<Application> applications) {
    Meters next;
    for (Application& application : applications) {
      auto known = meters_.find(application.name);
      if (known != meters_.end() && known->second->application() == application)
        next.insert(meters_.extract(known));
      else
        next[application.name] = std::make_unique<ApplicationMeter>(services_, application, kMaxGapNs);
    }
    meters_ = std::move(next);
  }

  const koord_svc_state* state_ = nullptr;
  Services services_;
  std::uint64_t running_ = 0;
  std::vector<std::uint64_t> versions_;
  std::uint64_t slo_version_ = 0;
  Meters meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-host-application\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=HostApplicationCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1\nlicense=Apache-2.0\n"
             "description=CPU and memory of the host applications that the NodeSLO names\n",
             koord::plugin::advisor<HostApplication>("host-application", kPeriod))
