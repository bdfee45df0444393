// SPDX-License-Identifier: Apache-2.0
// hostile-kills [--children N] [--agents N] [--seed N]: first sends N SIGKILLs to random processes in plugins' cgroups.
// Half of them go to the plugin's own process. A second later all processes and cgroups that the plugin had must be
// gone. The other half goes to processes that the plugin started. The plugin must continue without these processes.
// Then sends N SIGKILLs to the agent: a second after the next start is ready, all earlier processes and cgroups must be
// gone. Zombies count as gone. The agent must not keep descriptors. Defaults: 20 and 5.
#include <poll.h>
#include <sys/stat.h>

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
constexpr int kKillsOfOneAgent = 3 * kPlugins;  // a plugin is parked at its fifth end in ten minutes
// A plugin and its processes are seven in total (ends.c). At most two of them are killed before the last round.
constexpr std::size_t kFewestProcesses = 5;

// A process, identified by number and start time.
using ProcessId = std::pair<pid_t, std::string>;
// A cgroup, identified by path and inode, because its name may be reused.
using CgroupId = std::pair<std::string, ino_t>;

std::string start_time(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos || stat.compare(end, 4, ") Z ") == 0) return "";
  const std::vector<std::string> fields = split(stat.substr(end + 2), ' ');
  return fields.size() > 19 ? fields[19] : "";
}

// Returns the number of the crowd to which the process belongs, "com.hostile.crowd-2"; -1 if to none.
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

ino_t inode_of(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

// Returns the cgroups of the plugin's children, one per hierarchy that has them. -1: the cgroups of all crowds.
std::set<CgroupId> cgroups_of(int crowd) {
  const std::string name = "/com.hostile.crowd-" + (crowd < 0 ? "" : std::to_string(crowd));
  std::set<CgroupId> found;
  for (const std::string& plugin : hostile_cgroups()) {
    if (plugin.find(name) == std::string::npos) continue;
    for (const std::string& child : list_subdirectories(plugin).value_or({})) {
      const std::string path = plugin + "/" + child;
      if (const ino_t inode = inode_of(path)) found.insert({path, inode});
    }
  }
  return found;
}

// The processes and cgroups of one plugin, or of all, at one time.
struct Belongings {
  std::set<ProcessId> processes;
  std::set<CgroupId> cgroups;
};

std::size_t still_there(const std::set<ProcessId>& processes) {
  std::size_t count = 0;
  for (const auto& [pid, start] : processes) count += !start.empty() && start_time(pid) == start;
  return count;
}

std::string leftovers_of(const Belongings& before) {
  if (const std::size_t left = still_there(before.processes)) return std::to_string(left) + " processes are left";
  for (const auto& [path, inode] : before.cgroups)
    if (inode_of(path) == inode) return "'" + path + "' is left";
  return "";
}

class Node {
 public:
  explicit Node(unsigned seed) : random_(seed) { agent_.emplace(configuration(), std::vector<std::string>{}); }

  // Returns false after printing the reason.
  bool start() {
    for (int i = 0; i < kPlugins; ++i) write_crowd(i, test::built("test/hostile/hostile.so"), agent_->plugin_folder());
    std::filesystem::copy(test::built("test/hostile/bystander.so"), agent_->plugin_folder() + "/bystander.so",
                          std::filesystem::copy_options::skip_existing);
    return agent_->start();
  }
  bool wait_for_crowds() {
    return test::eventually(
        [] {
          for (int i = 0; i < kPlugins; ++i)
            if (processes_of(i).size() < kFewestProcesses) return false;
          return true;
        },
        60s);
  }
  // Makes one round: kills one random process of each plugin at a random time.
  bool kill_children() {
    if (!wait_for_crowds()) return fail("the plugins do not run: " + agent_->ctl({"plugins"}).output);
    // Compared in the same state: while all plugins run.
    const long descriptors = descriptors_of(agent_->process().pid());
    if (descriptors_ == 0) descriptors_ = descriptors;
    if (descriptors > descriptors_ + 4)
      return fail("the agent has " + std::to_string(descriptors) + " descriptors, had " + std::to_string(descriptors_));
    std::vector<Kill> kills;
    for (int i = 0; i < kPlugins; ++i) {
      ::poll(nullptr, 0, below(50));
      kills.push_back(kill_one_of(i));
    }
    ::poll(nullptr, 0, 1000);
    for (const Kill& kill : kills)
      if (const std::string problem = problem_of(kill); !problem.empty()) return fail(problem);
    return true;
  }
  bool kill_agent() {
    ::poll(nullptr, 0, below(1500));
    const Belongings before{processes_of(-1), cgroups_of(-1)};
    agent_->kill();
    if (!start()) return false;
    ::poll(nullptr, 0, 1000);
    if (const std::string left = leftovers_of(before); !left.empty()) return fail(left + " of a killed agent");
    return true;
  }
  int mains() const { return mains_; }
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
    std::string text = "  cpuBudget: 0\n  settings:\n    com.bystander: {period: 100ms, deadline: 5s}\n";
    std::string gates = "featureGates:\n  Bystander: true\n";
    for (int i = 0; i < kPlugins; ++i) {
      text += "    com.hostile.crowd-" + std::to_string(i) + ": {period: 100ms, deadline: 5s}\n";
      gates += "  HostileCrowd" + std::to_string(i) + ": true\n";
    }
    return text + gates;
  }
  struct Kill {
    ProcessId main, victim;
    Belongings before;
  };
  // Half of the victims are the plugin's own process.
  Kill kill_one_of(int crowd) {
    pid_t main = 0;
    test::eventually([&] { return (main = plugin_process(crowd)) > 0; });
    Kill kill{{main, start_time(main)}, {main, start_time(main)}, {processes_of(crowd), cgroups_of(crowd)}};
    std::vector<ProcessId> others;
    for (const ProcessId& process : kill.before.processes)
      if (process.first != main) others.push_back(process);
    if (!others.empty() && below(2) == 0)
      kill.victim = others[static_cast<std::size_t>(below(static_cast<int>(others.size())))];
    if (kill.victim.first > 0) ::kill(kill.victim.first, SIGKILL);
    return kill;
  }
  // Returns "" if everything is gone that must be.
  std::string problem_of(const Kill& kill) {
    if (kill.victim.first <= 0) return "a plugin had no process";
    if (kill.victim == kill.main) {
      ++mains_;
      const std::string left = leftovers_of(kill.before);
      return left.empty() ? "" : left + " of a killed plugin";
    }
    if (still_there({kill.victim}) != 0) return "a killed process is left";
    return still_there({kill.main}) == 1 ? "" : "a plugin ended because a process that it started was killed";
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
  long descriptors_ = 0;  // number of the agent's descriptors
  int mains_ = 0;         // kills of plugins' own processes
};

bool kill_children(int wanted, unsigned seed) {
  int mains = 0;
  for (int done = 0; done < wanted;) {
    Node node(seed + static_cast<unsigned>(done));
    if (!node.start()) return false;
    for (int killed = 0; killed < kKillsOfOneAgent && done < wanted; killed += kPlugins, done += kPlugins)
      if (!node.kill_children()) return false;
    if (!node.stop()) return false;
    mains += node.mains();
    std::printf("%d kills of plugins (%d) and of processes that they started (%d), nothing left\n", done, mains,
                done - mains);
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
    if (option == "--children")
      children = value;
    else if (option == "--agents")
      agents = value;
    else if (option == "--seed")
      seed = static_cast<unsigned>(value);
    else
      return std::fprintf(stderr, "%s: expected --children, --agents or --seed\n", option.c_str()), 2;
  }
  if (auto reason = test::RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: plugins need cgroups of their own: %s\n", reason->c_str());
    return test::kSkip;
  }
  start_guard();
  return kill_children(children, seed) && kill_agents(agents, seed) ? 0 : 1;
}
