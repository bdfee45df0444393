// SPDX-License-Identifier: Apache-2.0
// hostile-kills [--children N] [--agents N] [--seed N]: N random SIGKILLs of plugins' processes and of what these started; a
// second later none of the processes, cgroups and descriptors of before is left. Then N of the agent; a second after the next
// start is ready the same holds. Defaults: 20 and 5.
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/hostile/agent_view.hpp"
#include "test/hostile/raid.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::hostile;
using namespace std::chrono_literals;
using test::AgentProcess;

namespace {

constexpr int kPlugins = 4;
constexpr int kKillsOfOneAgent = 3 * kPlugins;  // the fifth end of a plugin in ten minutes parks it

// A process by number and start time.
using ProcessId = std::pair<pid_t, std::string>;

std::string start_time(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos || stat.compare(end, 4, ") Z ") == 0) return "";
  const std::vector<std::string> fields = split(stat.substr(end + 2), ' ');
  return fields.size() > 19 ? fields[19] : "";
}

// "com.hostile.crowd-2": which of the crowds it belongs to; -1: to none.
int crowd_of(pid_t pid) {
  const std::string words = read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  const std::size_t at = words.find("com.hostile.crowd-");
  return at == std::string::npos ? -1 : words[at + 18] - '0';
}

std::set<ProcessId> processes_of(int crowd) {
  std::set<ProcessId> found;
  for (pid_t pid : hostile_processes())
    if (crowd < 0 || crowd_of(pid) == crowd) found.insert({pid, start_time(pid)});
  return found;
}

std::size_t still_there(const std::set<ProcessId>& processes) {
  std::size_t count = 0;
  for (const auto& [pid, start] : processes) count += !start.empty() && start_time(pid) == start;
  return count;
}

class Node {
 public:
  explicit Node(unsigned seed) : random_(seed) { agent_.emplace(configuration(), std::vector<std::string>{}); }

  // False: a line says why.
  bool start() {
    for (int i = 0; i < kPlugins; ++i) write_crowd(i, test::built("test/hostile/hostile.so"), agent_->plugin_folder());
    std::filesystem::copy(test::built("test/hostile/bystander.so"), agent_->plugin_folder() + "/bystander.so",
                          std::filesystem::copy_options::skip_existing);
    return agent_->start();
  }
  bool wait_for_crowds() {
    return test::eventually([] {
      for (int i = 0; i < kPlugins; ++i)
        if (processes_of(i).size() < 3) return false;
      return true;
    }, 60s);
  }
  // A round: each plugin or one of its processes is killed at a moment of its own.
  bool kill_children() {
    if (!wait_for_crowds()) return fail("the plugins do not run: " + agent_->ctl({"plugins"}).output);
    // Compared when all plugins run, as they did before.
    const long descriptors = descriptors_of(agent_->process().pid());
    if (descriptors_ == 0) descriptors_ = descriptors;
    if (descriptors > descriptors_ + 4)
      return fail("the agent has " + std::to_string(descriptors) + " descriptors, had " + std::to_string(descriptors_));
    std::vector<std::set<ProcessId>> before;
    for (int i = 0; i < kPlugins; ++i) {
      before.push_back(processes_of(i));
      ::poll(nullptr, 0, below(50));
      const pid_t main = plugin_process(i);
      if (main > 0) ::kill(main, SIGKILL);
    }
    ::poll(nullptr, 0, 1000);
    for (int i = 0; i < kPlugins; ++i)
      if (const std::size_t left = still_there(before[static_cast<std::size_t>(i)]))
        return fail(std::to_string(left) + " processes are left of a killed plugin");
    return true;
  }
  bool kill_agent() {
    ::poll(nullptr, 0, below(1500));
    const std::set<ProcessId> before = processes_of(-1);
    agent_->kill();
    if (!start()) return false;
    ::poll(nullptr, 0, 1000);
    if (const std::size_t left = still_there(before)) return fail(std::to_string(left) + " processes are left of a killed agent");
    return true;
  }
  bool stop() {
    if (agent_->stop() != 0) return fail("the agent did not end by itself");
    const auto no_process = [] { return processes_of(-1).empty(); };
    if (!test::eventually(no_process, 10s)) return fail("processes are left after the agent's end");
    const auto no_cgroup = [] { return hostile_cgroups().empty(); };
    if (!test::eventually(no_cgroup, 10s)) return fail("left after the agent's end: " + hostile_cgroups().front());
    return true;
  }

 private:
  static std::string configuration() {
    std::string text = "  cpuBudget: 0\n  settings:\n    com.bystander: {period: 100ms, deadline: 1s}\n";
    std::string gates = "featureGates:\n  Bystander: true\n";
    for (int i = 0; i < kPlugins; ++i) {
      text += "    com.hostile.crowd-" + std::to_string(i) + ": {period: 100ms, deadline: 1s}\n";
      gates += "  HostileCrowd" + std::to_string(i) + ": true\n";
    }
    return text + gates;
  }
  pid_t plugin_process(int crowd) {
    const std::string text = plugin_view(*agent_, "com.hostile.crowd-" + std::to_string(crowd)).text;
    const std::size_t at = text.find("\"process\":");
    return at == std::string::npos ? 0 : static_cast<pid_t>(std::atoi(text.c_str() + at + 10));
  }
  int below(int n) { return static_cast<int>(std::uniform_int_distribution(0, n - 1)(random_)); }
  bool fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return false;
  }

  std::mt19937 random_;
  std::optional<AgentProcess> agent_;
  long descriptors_ = 0;  // of the agent
};

bool kill_children(int wanted, unsigned seed) {
  for (int done = 0; done < wanted;) {
    Node node(seed + static_cast<unsigned>(done));
    if (!node.start()) return false;
    for (int killed = 0; killed < kKillsOfOneAgent && done < wanted; killed += kPlugins, done += kPlugins)
      if (!node.kill_children()) return false;
    if (!node.stop()) return false;
    std::printf("%d kills of plugins, nothing left\n", done);
    std::fflush(stdout);
  }
  return true;
}

bool kill_agents(int wanted, unsigned seed) {
  Node node(seed);
  if (!node.start()) return false;
  for (int done = 1; done <= wanted; ++done) {
    if (!node.kill_agent()) return false;
    if (done % 20 == 0 || done == wanted) std::printf("%d kills of the agent, nothing left\n", done);
    std::fflush(stdout);
  }
  return node.stop();
}

}  // namespace

int main(int count, char** words) {
  int children = 20, agents = 5;
  unsigned seed = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    const int value = std::atoi(words[i + 1]);
    if (option == "--children") children = value;
    else if (option == "--agents") agents = value;
    else if (option == "--seed") seed = static_cast<unsigned>(value);
    else return std::fprintf(stderr, "%s: expected --children, --agents or --seed\n", option.c_str()), 2;
  }
  if (auto reason = test::RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: plugins need cgroups of their own: %s\n", reason->c_str());
    return test::kSkip;
  }
  start_guard();
  return kill_children(children, seed) && kill_agents(agents, seed) ? 0 : 1;
}
