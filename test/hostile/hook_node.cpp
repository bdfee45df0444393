// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/hook_node.hpp"

#include <cstdlib>
#include <stdexcept>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "test/core/hook/nri/runtime_messages.hpp"
#include "test/hostile/agent_view.hpp"

namespace koord::hostile {
namespace {

using cgroup::Controller;

// Values that the neighbour sets (plugins/neighbour.c), and values of attacks that the agent must refuse
// (plugins/hooks.c).
constexpr std::string_view kShares = "777", kWeight = "30", kPoison = "33000";
constexpr std::string_view kVariable = "OF_NEIGHBOUR", kForged = "FORGED";
constexpr std::size_t kMostRefusal = 1200;

std::string text_of(const test::RealCgroup& cgroup, const std::string& file) {
  return std::string(trim(read_file(cgroup.path(Controller::cpu) + "/" + file).value_or("")));
}

std::string pod_yaml(const std::string& name, const std::string& pod, const std::string& container, long version) {
  return "- metadata: {uid: " + name + ", namespace: default, name: " + name +
         ", labels: {koordinator.sh/qosClass: LS}, annotations: {koordetector.sh/cgroup-dir: " + pod +
         ", koordetector.sh/cgroup-dir.main: " + container + ", version: \"" + std::to_string(version) +
         "\"}}\n  spec: {containers: [{name: main}]}\n";
}

std::string request_of_runtime() {
  return test::event_request(
      [](nri::Writer& pod) {
        pod.text(1, "created");
        pod.text(2, "created");
        pod.text(3, "uid-of-created");
        pod.text(4, "default");
      },
      [](nri::Writer& container) {
        container.text(1, "container-of-created");
        container.text(2, "created");
        container.text(3, "main");
      });
}

}  // namespace

HookNode::HookNode(const std::string& folder) : pods_path_(folder + "/pods.yaml"), socket_(folder + "/nri.sock") {
  write_pods();
  runtime_ = std::make_unique<test::FakeRuntime>(
      here_.loop, socket_,
      test::FakeRuntime::Script{.configure = test::configure_request("containerd", "1.7.24"),
                                .synchronize = {test::synchronize_request({}, {})}});
}

std::string HookNode::configuration() const {
  return "state: {source: file, file: {pods: \"" + pods_path_ + "\"}}\nhooks: {nri: {socket: \"" + socket_ +
         "\"}, deadline: 1s}\n";
}

void HookNode::write_pods() const {
  std::string text = "kind: PodList\nitems:\n";
  for (const Pod* pod : {&first_, &second_})
    text += pod_yaml(pod->name, pod->cgroup.dir(), pod->container.dir(), version_);
  if (Result<void> written = write_file_atomically(pods_path_, text); !written)
    throw std::runtime_error(written.error().message());
}

void HookNode::change_pods() {
  ++version_;
  write_pods();
}

std::string HookNode::difference() const {
  std::string all;
  for (const Pod* pod : {&first_, &second_}) {
    const std::string shares = text_of(pod->container, "cpu.shares"), weight = text_of(pod->container, "cpu.weight");
    if (shares.empty() ? weight != kWeight : shares != kShares)
      all += pod->name + " has cpu.shares '" + shares + weight + "'; ";
    const std::string quota = text_of(pod->container, "cpu.cfs_quota_us") + text_of(pod->container, "cpu.max");
    if (quota.starts_with(kPoison)) all += pod->name + " has the quota '" + quota + "'; ";
  }
  return all;
}

std::optional<nri::Response> HookNode::create_container() {
  if (!here_.until([&] { return runtime_->is_synchronized(); })) return std::nullopt;
  const std::uint32_t call = runtime_->call("CreateContainer", request_of_runtime());
  const bool is_answered = here_.until([&] { return runtime_->answer_to(call) || !runtime_->connected(); });
  if (!is_answered || !runtime_->answer_to(call)) return std::nullopt;
  return *runtime_->answer_to(call);
}

namespace {

std::vector<std::string> complaints_about_creation(const nri::Response& answer) {
  std::vector<std::string> complaints;
  if (answer.status.code != nri::Code::ok) complaints.push_back("the creation was refused: " + answer.status.message);
  if (answer.payload.find(kVariable) == std::string::npos)
    complaints.emplace_back("a new container lacks the values of another hook");
  if (answer.payload.find(kForged) != std::string::npos)
    complaints.emplace_back("the runtime got what the agent must not take");
  return complaints;
}

std::vector<std::string> complaints_about_refusal(const nri::Response& answer, const std::string& plugin) {
  std::vector<std::string> complaints;
  const std::string& text = answer.status.message;
  if (answer.status.code == nri::Code::ok) complaints.emplace_back("the creation was not refused");
  if (!text.starts_with(plugin + ": ")) complaints.push_back("the refusal is '" + text.substr(0, 100) + "'");
  std::string clean = text;
  replace_control_characters(clean);
  if (clean != text) complaints.emplace_back("the refusal has control characters or bytes that are not UTF-8");
  if (text.size() > kMostRefusal) complaints.push_back("the refusal has " + std::to_string(text.size()) + " bytes");
  return complaints;
}

// Checks for one write per answer and one answer per change of a pod.
std::string complaint_about_flapping(const Attack& attack, const test::AgentProcess& agent, HookNode& node,
                                     const Watch& watch) {
  constexpr long kChanges = 5;
  constexpr std::string_view kStart = " asked=", kWrite = "\"result\":\"applied\"";
  const auto asked = [&] {
    const std::string answer = answer_of(agent, attack.name);
    return answer.starts_with(kStart) ? std::atol(answer.c_str() + kStart.size()) : 0;
  };
  if (!watch([&] { return asked() >= HookNode::kSubjects; })) return "it is not asked";
  for (long change = 1; change <= kChanges; ++change) {
    node.change_pods();
    if (!watch([&] { return asked() >= HookNode::kSubjects * (1 + change); }))
      return "it is not asked again about pods that changed";
  }
  const std::string target = "/api/v1/decisions?outcome=applied&limit=1000&plugin=" + attack.id();
  long writes = 0;
  const auto count = [&] {
    const std::string applied = agent.get(target);
    writes = 0;
    for (std::size_t at = applied.find(kWrite); at != std::string::npos; at = applied.find(kWrite, at + 1)) ++writes;
    return writes > 0;
  };
  if (!watch(count)) return "no value of it is written";
  if (writes <= asked() && asked() <= HookNode::kSubjects * (1 + kChanges)) return {};
  return "it was asked " + std::to_string(asked()) + " times, with " + std::to_string(writes) + " writes";
}

}  // namespace

std::vector<std::string> complaints_about_hooks(const Attack& attack, const test::AgentProcess& agent, HookNode& node,
                                                const Watch& watch) {
  std::vector<std::string> all;
  if (!watch([&] { return node.difference().empty(); })) all.push_back(node.difference());
  if (attack.name == "hook_flapping") all.push_back(complaint_about_flapping(attack, agent, node, watch));
  // On a busy machine a well-behaved hook may miss its deadline, too.
  std::vector<std::string> of_creation{"no answer to the creation of a container"};
  watch([&] {
    if (const std::optional<nri::Response> answer = node.create_container())
      of_creation = attack.name == "hook_rejection" ? complaints_about_refusal(*answer, attack.id())
                                                    : complaints_about_creation(*answer);
    return of_creation.empty();
  });
  all.insert(all.end(), of_creation.begin(), of_creation.end());
  std::erase(all, "");
  return all;
}

}  // namespace koord::hostile
