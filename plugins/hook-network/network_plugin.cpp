// SPDX-License-Identifier: Apache-2.0
// hook-network: assigns a pod's packets to the traffic class of its QoS class, or to the pod's own class. The hook
// gives each pod the number of its class; the strategy creates the classes on an interface. Both do nothing until an
// operator names the interface.
#include <mutex>
#include <string>
#include <vector>

#include "core/cgroup/layout.hpp"
#include "plugins/hook-network/network_shares.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/reported_problems.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"

namespace {

using namespace std::chrono_literals;
using koord::hook_network::Network;
using koord::hook_network::PodFacts;
using koord::plugin::check;
using koord::plugin::require;
using koord::plugin::Snapshot;
using koord::plugin::str;
using koord::plugin::Strided;
using koord::plugin::view;

constexpr auto kPeriod = 5s;
constexpr auto kHolds = 6 * kPeriod;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "interface": {"type": "string", "pattern": "^[a-zA-Z0-9_.@-]{1,15}$",
                  "description": "network interface of the node; its outgoing traffic is shared between classes; default: none"}
  }})";

std::string interface_of(const koord_host* host) {
  return koord::plugin::Config(host).string("/interface").value_or("");
}

bool has_net_cls(const koord_host* host) {
  const auto layout = koord::cgroup::Layout::detect(koord::node::roots_of(host));
  return layout && layout->version(koord::cgroup::Controller::net_cls).has_value();
}

// Returns facts that borrow their name from `name`.
PodFacts facts_of(const koord_pod& pod, std::string& name) {
  name = std::string(view(pod.ns)) + "/" + std::string(view(pod.name));
  return {view(pod.uid), name, koord::slo::label_of(pod, koord::slo::kQosLabel).value_or(""),
          koord::slo::annotation_of(pod, koord::hook_network::kAnnotation)};
}

// Parses a NodeSLO only once, not for each pod.
class NetworkOfNode {
 public:
  // Adds problems of a new NodeSLO to `problems`.
  const Network& follow(std::string_view node_slo, std::vector<std::string>& problems) {
    if (is_known_ && node_slo == text_) return network_;
    is_known_ = true;
    text_ = node_slo;
    auto parsed = koord::hook_network::parse_network(node_slo);
    network_ = parsed ? *std::move(parsed) : Network{};
    if (!parsed) network_.problems.push_back(parsed.error().message());
    for (const std::string& problem : network_.problems) problems.push_back("NodeSLO: " + problem + ", ignoring");
    return network_;
  }

 private:
  bool is_known_ = false;
  std::string text_;
  Network network_;
};

class NetworkHook final : public koord::plugin::RuntimeHook {
 public:
  void init() override { is_on_ = !interface_of(host()).empty() && has_net_cls(host()); }

  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (!is_on_) return;
    std::string name;
    const PodFacts facts = facts_of(*request.pod, name);
    const auto adjustment = koord::hook_network::adjust(facts, network(view(request.node_slo)));
    const std::string problem = adjustment.problem.empty() ? "" : "pod " + name + ": " + adjustment.problem;
    if (problems_.is_new(problem)) log(KOORD_LOG_WARN, problem);
    if (adjustment.classid)
      check(response.set(&response, str("linux.net_cls.classid"), str(std::to_string(*adjustment.classid))),
            "setting linux.net_cls.classid");
  }

 private:
  // Ignores problems of the NodeSLO, because the strategy reports them.
  Network network(std::string_view node_slo) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> reported_there;
    return of_node_.follow(node_slo, reported_there);
  }

  bool is_on_ = false;
  koord::hook_plugin::ReportedProblems problems_;
  std::mutex mutex_;
  NetworkOfNode of_node_;  // guarded by mutex_
};

class NetworkClasses final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
    capabilities_ = require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    interface_ = interface_of(host());
    const bool is_supported = has_net_cls(host());
    report("net_cls", is_supported, "net_cls.classid", "no hierarchy of cgroup v1 has the controller net_cls");
    is_on_ = is_supported && !interface_.empty();
    report("traffic_classes", is_on_, "HTB on '" + interface_ + "'",
           interface_.empty() ? "plugins.settings.hook-network.interface names no interface" : "needs net_cls");
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    now_ns_ = now_ns;
    if (!is_on_ || missing_.missing(kKnob, now_ns)) return;
    const Snapshot snapshot(host(), state_);
    std::vector<std::string> problems;
    const Network& network = of_node_.follow(snapshot.node_slo(), problems);
    std::vector<std::string> names;
    std::vector<PodFacts> pods;
    const auto all = snapshot.pods();
    names.reserve(all.size());
    for (const koord_pod& pod : all) pods.push_back(facts_of(pod, names.emplace_back()));
    const auto planned = koord::hook_network::plan(network, pods);
    problems.insert(problems.end(), planned.problems.begin(), planned.problems.end());
    for (const std::string& problem : problems)
      if (problems_.is_new(problem)) log(KOORD_LOG_WARN, problem);
    if (planned.classes.empty()) return;
    koord::strategy::propose(host(), knobs_,
                             {{KOORD_LEVEL_NODE, kKnob, interface_, planned.classes,
                               "the NodeSLO and annotations of pods share the network"}},
                             kHolds);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
    for (const koord_intent_result& result : results)
      if (view(result.knob) == kKnob) report_classes(result.status);
  }

 private:
  static constexpr const char* kKnob = "tc.classes";

  void report_classes(koord_status status) {
    std::string problem;
    if (status == KOORD_E_GONE) problem = "the interface '" + interface_ + "' is missing";
    if (status == KOORD_E_UNSUPPORTED) problem = "the decision record of tc.classes says why: koordctl decisions";
    if (problem == problem_) return;
    problem_ = problem;
    report("traffic_classes", problem.empty(), "HTB on '" + interface_ + "'", problem);
    if (status == KOORD_E_GONE) log(KOORD_LOG_WARN, problem + "; no class is made until it is there");
  }

  void report(const char* name, bool is_supported, const std::string& detail, const std::string& otherwise) {
    capabilities_->report(host(), str(name), is_supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                          str(is_supported ? detail : otherwise));
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  std::string interface_;
  bool is_on_ = false;
  std::string problem_;  // problem with the classes; empty: none
  NetworkOfNode of_node_;
  koord::hook_plugin::ReportedProblems problems_;
  koord::strategy::MissingKnobs missing_;
  koord::strategy::Refusals refusals_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN(
    "id=hook-network\n"
    "version=0.1.0\n"
    "kinds=koord.runtime-hook/1,koord.qos-strategy/1\n"
    "gate=TCNetworkQoS\n"
    "stage=alpha\n"
    "requires=koord.capabilities/1,koord.config/1,koord.fs/1,koord.knobs/1,koord.state/1\n"
    "license=Apache-2.0\n"
    "description=traffic classes of pods by their class, and limits of what single pods send\n",
    koord::plugin::runtime_hook<NetworkHook, KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER>(
        "network", 0, kConfigSchema),
    koord::plugin::qos_strategy<NetworkClasses>("network-classes", kPeriod, kConfigSchema))
