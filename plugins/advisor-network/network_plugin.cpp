// SPDX-License-Identifier: Apache-2.0
// advisor-network: measures traffic and TCP retransmits of the node, of pods and of containers outside of pods.
#include <algorithm>
#include <optional>

#include "koordetector/plugin.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-network/net_namespace.hpp"
#include "plugins/advisor-network/network_series.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace {

using namespace std::chrono_literals;
using koord::network::Interface;
using koord::network::Interfaces;
using koord::network::LevelMetrics;
using koord::network::Namespace;
using koord::network::NamespaceId;
using koord::network::NetworkSeries;
using koord::network::Read;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;

constexpr pid_t kInit = 1;
constexpr std::uint64_t kTcpPeriodNs = std::chrono::nanoseconds(30s).count();

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "perInterface": {"type": "boolean", "description": "a series for each interface of a pod instead of their sum; default: false"}
  }})";

// Meter of a pod, or of a container outside of pods. `series` is nullopt for containers of pods, which share their
// pod's namespace.
struct Meter {
  std::optional<NetworkSeries> series = {};
  bool is_pod = false;
  std::optional<pid_t> process = {};  // the process through which the namespace is read
  std::optional<NamespaceId> space = {};
};

class Network final : public koord::plugin::Advisor {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    if (!koord::network::namespace_of(roots_.proc, kInit))
      throw Failure(KOORD_E_UNSUPPORTED, "no network to measure: there is no '" + roots_.proc + "/1/net/dev'");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    per_interface_ = koord::plugin::Config(host()).boolean("/perInterface").value_or(false);
    node_metrics_ = {host(), "node", "the node"};
    pod_metrics_ = {host(), "pod", "a pod"};
    container_metrics_ = {host(), "container", "a container outside any pod"};
    node_.emplace(node_metrics_, KOORD_NO_SUBJECT);
    host_pods_ = define({"node_host_network_pods", "pods",
                         "Pods on the node's own network; their traffic is the "
                         "node's."})
                     .series();
    batch_ = Batch(host());
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    what_ = tcp_ns_ == 0 || now_ns >= tcp_ns_ + kTcpPeriodNs ? Read::interfaces_and_tcp : Read::interfaces;
    if (what_ == Read::interfaces_and_tcp) tcp_ns_ = now_ns;
    std::optional<Failure> failure = measure_node();
    // Measures the node even while the pods are unknown.
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (snapshot && snapshot->version(KOORD_ON_PODS) != 0) {
      meters_.follow(*snapshot, [this](const Subject& subject) { return meter_of(subject); });
      const std::optional<Failure> of_pods = measure_pods();
      if (!failure) failure = of_pods;
    }
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

 private:
  std::optional<Failure> measure_node() {
    auto node = koord::network::read_namespace(roots_.proc, kInit, what_);
    if (!node) return Failure(KOORD_E_IO, node.error().message());
    host_space_ = node->id;
    // Bridges, bonds and veths carry the same traffic as the cards. A node that is itself a container has no card.
    const auto is_card = [&](const std::string& name) { return koord::network::is_card(roots_.sys, name); };
    const bool has_card = std::any_of(node->interfaces.begin(), node->interfaces.end(),
                                      [&](const auto& entry) { return is_card(entry.first); });
    node_->add("",
               sum(node->interfaces, [&](const std::string& name) { return has_card ? is_card(name) : name != "lo"; }),
               batch_);
    node_->add(node->tcp, batch_);
    return std::nullopt;
  }

  std::optional<Failure> measure_pods() {
    std::size_t host_pods = 0;
    std::optional<Failure> failure = meters_.for_each([&](Meter& meter, std::string_view cgroup) {
      if (!meter.series) return;
      find_namespace(meter, cgroup);
      if (meter.space == host_space_)
        host_pods += meter.is_pod;
      else if (meter.process)
        measure(meter);
    });
    batch_.add(host_pods_, static_cast<double>(host_pods));
    return failure;
  }

  // Finds a different process if the known process has ended or its pid now belongs to a different process.
  void find_namespace(Meter& meter, std::string_view cgroup) {
    if (meter.process) {
      const auto now = koord::network::namespace_of(roots_.proc, *meter.process);
      if (now && now == meter.space) return;
    }
    meter.process = koord::network::process_in(roots_.cgroup, cgroup);
    meter.space = meter.process ? koord::network::namespace_of(roots_.proc, *meter.process) : std::nullopt;
    if (!meter.space) meter.process = {};
  }

  void measure(Meter& meter) {
    const auto space = koord::network::read_namespace(roots_.proc, *meter.process, what_);
    if (!space) {
      meter.process = {};
      if (space.error().is(std::errc::no_such_file_or_directory)) return;
      throw Failure(KOORD_E_IO, space.error().message());
    }
    if (space->id != meter.space) {  // it has changed a moment ago
      meter.process = {};
      return;
    }
    const auto counts = [](const std::string& name) { return name != "lo"; };
    if (!per_interface_) meter.series->add("", sum(space->interfaces, counts), batch_);
    for (const auto& [name, interface] : per_interface_ ? space->interfaces : Interfaces{})
      if (counts(name)) meter.series->add(name, interface, batch_);
    meter.series->add(space->tcp, batch_);
  }

  Meter meter_of(const Subject& subject) const {
    if (subject.is_pod()) return {.series = NetworkSeries(pod_metrics_, subject.handle), .is_pod = true};
    if (subject.pod) return {};
    return {.series = NetworkSeries(container_metrics_, subject.handle)};
  }

  koord::NodeRoots roots_;
  const koord_svc_state* state_ = nullptr;
  bool per_interface_ = false;
  LevelMetrics node_metrics_, pod_metrics_, container_metrics_;
  std::optional<NetworkSeries> node_;
  std::uint64_t host_pods_ = 0;
  std::optional<NamespaceId> host_space_;
  Read what_ = Read::interfaces;
  std::uint64_t tcp_ns_ = 0;
  Subjects<Meter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-network\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=NetworkCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\nlicense=Apache-2.0\n"
             "description=Traffic, drops and TCP retransmits of the node and of pods\n",
             koord::plugin::advisor<Network>("network", 5s, kConfigSchema))
