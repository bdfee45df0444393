// SPDX-License-Identifier: Apache-2.0
// Memory of the real agent on a full node: with the advisors that strategies need, and with all strategies in addition,
// in shadow mode and enforcing. The node's cgroup tree is in plain files in $TMPDIR. Results are in MiB of resident
// memory.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/base/file.hpp"
#include "test/bench/full_node.hpp"
#include "test/bench/whole_agent.hpp"
#include "test/support/agent_process.hpp"

using namespace koord;
using namespace koord::test;
using koord::bench::FullNode;
using koord::bench::resident_mib;
using namespace std::chrono_literals;

namespace {

const char* class_of(state::KoordQos qos) { return qos == state::KoordQos::be ? "BE" : "LS"; }
const char* class_of(state::KubeQos qos) { return qos == state::KubeQos::best_effort ? "BestEffort" : "Burstable"; }

// Returns the pod as the kubelet lists it, in JSON, which is valid YAML.
std::string text_of(const state::Pod& pod) {
  std::string text = "- {metadata: {uid: " + pod.uid + ", name: " + pod.name + ", namespace: " + pod.namespace_ +
                     ", labels: {koordinator.sh/qosClass: " + class_of(pod.koord_qos) + "}, annotations: {";
  for (const auto& [name, value] : pod.annotations) text += name + ": '" + value + "', ";
  text += "}}, spec: {containers: [";
  for (const state::Container& container : pod.containers)
    text += "{name: " + container.name +
            ", resources: {requests: {cpu: 500m, memory: 256Mi, kubernetes.io/batch-cpu: 500, " +
            "kubernetes.io/batch-memory: 256Mi}, limits: {cpu: 1, memory: 512Mi, kubernetes.io/batch-cpu: 1000, " +
            "kubernetes.io/batch-memory: 512Mi}}}, ";
  text += "]}, status: {phase: Running, qosClass: " + std::string(class_of(pod.kube_qos)) + ", containerStatuses: [";
  for (const state::Container& container : pod.containers)
    text += "{name: " + container.name + ", containerID: \"" + container.id + "\", state: {running: {}}}, ";
  return text + "]}}\n";
}

void write(const std::string& path, const std::string& text) {
  if (auto written = write_file_atomically(path, text); !written) throw std::runtime_error(written.error().message());
}

std::vector<std::string> folders(std::string_view prefix) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(built("plugins")))
    if (std::string name = entry.path().filename();
        name.starts_with(prefix) && std::filesystem::exists(entry.path() / (name + ".so")))
      found.push_back(entry.path());
  return found;
}

double active_intents(const std::string& metrics) {
  double sum = 0;
  for (const auto& [series, value] : parse_metrics(metrics))
    if (series.starts_with("koordetector_host_active_intents{")) sum += value;
  return sum;
}

// Measures after enough rounds. By that time the strategies have found out which knobs exist, and the other memory has
// its final size.
double measure(const char* title, const FullNode& node, const std::string& folder, const std::string& mode,
               bool with_strategies) {
  std::vector<std::string> plugins{built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
                                   built("plugins/advisor-be-resource")};
  if (with_strategies)
    for (std::string& strategy : folders("qos-")) plugins.push_back(std::move(strategy));
  AgentProcess agent("roots: {cgroup: " + node.roots().cgroup + ", resctrl: " + node.roots().resctrl +
                         "}\nstate: {source: file, file: {pods: " + folder + "/pods.yaml, nodeSLO: " + folder +
                         "/slo.yaml}}\nqos: {mode: " + mode + "}\nfeatureGates: {AllAlpha: true, AllBeta: true}\n",
                     plugins);
  if (!agent.start()) return 0;
  if (with_strategies) eventually([&] { return active_intents(agent.metrics()) > 4000; }, 60s);
  std::this_thread::sleep_for(30s);
  const double mib = resident_mib(agent.process().pid());
  std::printf("%-40s %6.1f MiB resident\n", title, mib);
  if (with_strategies) std::printf("%s\n", agent.ctl({"mode"}).output.c_str());
  std::fflush(stdout);
  return mib;
}

}  // namespace

int main() {
  FullNode node(bench::Kernel::mainline);
  TemporaryFolder folder;
  std::string pods = "kind: PodList\nitems:\n";
  for (const state::Pod& pod : node.host().hub().current()->pods) pods += text_of(pod);
  write(folder / "pods.yaml", pods);
  write(folder / "slo.yaml", "kind: NodeSLO\nmetadata: {name: bench}\nspec: " + std::string(FullNode::slo()) + "\n");
  const double without = measure("advisors alone", node, folder.path(), "shadow", false);
  const double shadow = measure("and all strategies in shadow", node, folder.path(), "shadow", true);
  const double enforce = measure("and all strategies enforcing", node, folder.path(), "enforce", true);
  std::printf("strategies, 250 pods x 3: %.1f MiB in shadow, %.1f MiB enforcing; target <= 96 of all\n",
              shadow - without, enforce - without);
  return 0;
}
