// SPDX-License-Identifier: Apache-2.0
// The installed systemd unit with third-party plugins, in an emulated machine with systemd as its first process (vm.py
// --systemd). One drop-in changes the unit: the log goes to a file, and some tests make cgroups writable and delegated.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/hostile/answers.hpp"
#include "test/hostile/attacks.hpp"
#include "test/hostile/configuration.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace std::chrono_literals;
using hostile::Attack;
using test::built;
using test::eventually;
using test::run_to_end;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kLimit = 90s;  // long enough for an emulated machine
constexpr const char* kPlugins = "/opt/koord-test-plugins";
constexpr const char* kLog = "/var/log/koord-test.log";
constexpr const char* kPluginsCgroups[] = {"/sys/fs/cgroup/koordetector-plugins",
                                           "/sys/fs/cgroup/system.slice/koordetector.service/koordetector-plugins"};
constexpr const char* kOwnCgroups = "ProtectControlGroups=no\nDelegate=yes\n";
// Attacks that need only the node's own files and processes.
constexpr const char* kAttacks[] = {
    "core_pattern",     "kernel_tunables",   "sysrq",         "devices",         "system_files",
    "shared_folders",   "secrets",           "become_root",   "agent_files",     "signal_all",
    "limit_agent",      "schedule_agent",    "oom_score",     "memory_of_agent", "ptrace",
    "own_memory_limit", "own_process_limit", "unshare",       "clone_namespace", "mount",
    "kernel_objects",   "machine",           "foreign_calls", "loosen_seccomp",  "api_mode"};

std::vector<const Attack*> attacks_of_kernel() {
  std::vector<const Attack*> found;
  for (const Attack& attack : hostile::attacks())
    if (std::find(std::begin(kAttacks), std::end(kAttacks), attack.name) != std::end(kAttacks))
      found.push_back(&attack);
  return found;
}

// Returns the rest of the text's first line with this beginning, up to a blank.
std::string word_behind(const std::string& text, std::string_view start) {
  const std::size_t at = text.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

bool has_landlock() { return ::syscall(444, nullptr, 0, 1) > 0; }

// Returns the processes of plugins, including those that they forked. A zombie has no command line.
std::vector<pid_t> plugin_processes() {
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const auto pid = static_cast<pid_t>(parse_int(entry.path().filename().string()).value_or(0));
    if (pid > 0 && read_file(entry.path() / "cmdline").value_or("").starts_with("koord-plugin-host"))
      found.push_back(pid);
  }
  return found;
}

bool has_cgroups() {
  return std::any_of(std::begin(kPluginsCgroups), std::end(kPluginsCgroups),
                     [](const char* path) { return fs::exists(path); });
}

bool nothing_is_left() { return plugin_processes().empty() && !has_cgroups(); }

std::string leftovers() {
  return std::to_string(plugin_processes().size()) + " processes" + (has_cgroups() ? ", cgroups" : "");
}

// The agent, installed at the paths that its unit uses.
class Unit {
 public:
  Unit() : text_(read_file(built("packaging/koordetector.service")).value_or("")) {
    if (!fs::exists("/init.systemd"))
      throw std::runtime_error("this test changes the machine: it runs in that of vm.py --systemd only");
    const fs::path agent = word_behind(text_, "ExecStart=");
    config_ = word_behind(text_, "--config ");
    bin_ = agent.parent_path();
    const fs::path folders[] = {bin_, fs::path(config_).parent_path(), kPlugins, "/var/log", "/var/lib"};
    for (const fs::path& folder : folders) fs::create_directories(folder);
    for (const char* program : {"core/agentd/koordetector", "core/ctl/koordctl", "core/plugin_host/koord-plugin-host"})
      fs::copy_file(built(program), bin_ / fs::path(program).filename(), fs::copy_options::skip_existing);
    std::ofstream("/etc/systemd/system/koordetector.service") << text_;
  }
  ~Unit() { systemctl({"stop", "koordetector"}); }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // Starts the agent with the bystander, a plugin that starts processes, and these attacks. Waits until the plugins
  // run.
  void start(std::string_view drop_in, const std::vector<const Attack*>& attacks = {}) {
    fs::remove(kLog);
    fs::create_directories("/etc/systemd/system/koordetector.service.d");
    std::ofstream file("/etc/systemd/system/koordetector.service.d/test.conf");
    file << "[Service]\nStandardOutput=append:" << kLog << "\n" << drop_in << std::flush;
    write_plugins(attacks);
    REQUIRE(systemctl({"daemon-reload"}) == 0);
    REQUIRE(systemctl({"start", "koordetector"}) == 0);
    wait_for_plugins();
  }
  void wait_for_plugins() {
    const bool is_up =
        eventually([&] { return isolation("com.bystander") != "" && plugin_processes().size() > 7; }, kLimit);
    INFO(run_to_end({"systemctl", "status", "--no-pager", "koordetector"}).output);
    INFO(log());
    REQUIRE(is_up);
  }
  // Returns the column ISOLATION of `koordctl plugins`, "uid+seccomp"; "" unless the plugin runs.
  std::string isolation(std::string_view id) const {
    const std::string row = row_of(id);
    if (row.find(" running ") == std::string::npos) return "";
    for (const std::string& word : split(row, ' '))
      if (word.starts_with("uid") || word.starts_with("landlock") || word.starts_with("seccomp") || word == "none")
        return word;
    return "";
  }
  std::string json() const { return run_to_end({(bin_ / "koordctl").string(), "plugins", "-o", "json"}).output; }
  std::string log() const { return read_file(kLog).value_or(""); }
  std::string answer(const Attack* attack) const { return hostile::answer_in(log(), attack->name); }
  pid_t agent() const { return static_cast<pid_t>(parse_int(show("MainPID")).value_or(0)); }
  std::string show(const std::string& property) const {
    std::string text = run_to_end({"systemctl", "show", "--property", property, "--value", "koordetector"}).output;
    return text.substr(0, text.find('\n'));
  }
  int stop() { return systemctl({"stop", "koordetector"}); }

 private:
  static int systemctl(std::vector<std::string> words) {
    words.insert(words.begin(), "systemctl");
    return run_to_end(words, kLimit).exit_status;
  }
  // Returns a row of `koordctl plugins`; "" if the agent does not answer.
  std::string row_of(std::string_view id) const {
    for (const std::string& line : split(run_to_end({(bin_ / "koordctl").string(), "plugins"}).output, '\n'))
      if (line.starts_with(std::string(id) + " ")) return line;
    return "";
  }
  void write_plugins(const std::vector<const Attack*>& attacks) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kPlugins)) fs::remove(entry.path());
    fs::copy_file(built("test/hostile/bystander.so"), fs::path(kPlugins) / "bystander.so");
    hostile::write_crowd(0, built("test/hostile/hostile.so"), kPlugins);
    for (const Attack* attack : attacks) hostile::write_plugin(*attack, built("test/hostile/hostile.so"), kPlugins);
    const hostile::Words words{{"socket", "/run/koordetector/koordetector.sock"},
                               {"plugins", kPlugins},
                               {"folder", "/var/lib/koordetector"},
                               {"store", "/var/lib/koordetector/metrics.db"},
                               {"secret", config_},
                               {"config", config_},
                               {"program", (bin_ / "koord-plugin-host").string()},
                               {"cgroup", "/sys/fs/cgroup"}};
    std::ofstream(config_)
        << "nodeName: koord-test-node\nlisten: {metrics: \"\"}\nplugins:\n  cpuBudget: 0\n  ownDirectories: []\n"
        << "  directories: [" << kPlugins << "]\n  settings:\n    com.hostile.crowd-0: {period: 100ms, deadline: 20s}\n"
        << hostile::settings_of(attacks, "20s", words) << "featureGates:\n  HostileCrowd0: true\n"
        << hostile::gates_of(attacks);
    fs::permissions(config_, fs::perms::owner_read | fs::perms::owner_write);
  }

  std::string text_, config_;
  fs::path bin_;
};

std::string with_landlock(const std::string& before, const std::string& after) {
  return before + (has_landlock() ? "+landlock" : "") + after;
}

void check_answers(Unit& unit, const std::vector<const Attack*>& attacks) {
  const auto has_answered = [&](const Attack* attack) { return !unit.answer(attack).empty(); };
  eventually([&] { return std::all_of(attacks.begin(), attacks.end(), has_answered); }, kLimit);
  for (const Attack* attack : attacks) {
    const std::string answer = unit.answer(attack);
    INFO(attack->name, ":", answer);
    CHECK_FALSE(answer.empty());
    for (const std::string& step : hostile::steps_not_refused(answer)) CHECK_MESSAGE(step.empty(), step);
  }
}

// Sends SIGKILL to the agent. When the unit has ended, nothing of its plugins may remain, and systemd starts it again.
void check_kill(Unit& unit) {
  const pid_t agent = unit.agent();
  REQUIRE(agent > 1);
  const Clock::time_point begin = Clock::now();
  ::kill(agent, SIGKILL);
  const bool has_ended = eventually(nothing_is_left, kLimit);
  MESSAGE("nothing left ", std::chrono::duration<double>(Clock::now() - begin).count(),
          " s after SIGKILL of the agent");
  CHECK_MESSAGE(has_ended, leftovers());
  REQUIRE(eventually([&] { return unit.agent() > 1 && unit.agent() != agent; }, kLimit));
  unit.wait_for_plugins();
}

void check_stop(Unit& unit) {
  CHECK(unit.stop() == 0);
  CHECK(unit.show("ActiveState") == "inactive");
  CHECK_MESSAGE(nothing_is_left(), leftovers());
}

}  // namespace

TEST_CASE(
    "as installed the unit leaves a third-party plugin all layers but cgroup: the mount of cgroups is read-only") {
  Unit unit;
  unit.start("");
  const std::string status = read_file("/proc/" + std::to_string(unit.agent()) + "/status").value_or("");
  CHECK(status.find("NoNewPrivs:\t1") != std::string::npos);
  CHECK(status.find("Seccomp:\t2") != std::string::npos);
  CHECK(unit.isolation("com.bystander") == with_landlock("uid", "+seccomp"));
  CHECK(unit.json().find("Read-only file system") != std::string::npos);
  check_kill(unit);
  check_stop(unit);
}

TEST_CASE("with cgroups of its own a third-party plugin has all layers, and the calls of hostile plugins are refused") {
  const std::vector<const Attack*> attacks = attacks_of_kernel();
  REQUIRE(attacks.size() == std::size(kAttacks));
  Unit unit;
  unit.start(kOwnCgroups, attacks);
  check_answers(unit, attacks);
  const std::string all = with_landlock("uid", "+seccomp+cgroup"), json = unit.json();
  CHECK(unit.isolation("com.bystander") == all);
  // After its limits have ended a plugin, it does not run for a moment.
  for (const Attack* attack : attacks)
    CHECK_MESSAGE(eventually([&] { return unit.isolation(attack->id()) == all; }, kLimit),
                  json.substr(json.find(attack->id()), 1500));
  CHECK(unit.show("NRestarts") == "0");
  check_stop(unit);
}

TEST_CASE("with cgroups of its own SIGKILL of the agent leaves no process and no cgroup of plugins") {
  Unit unit;
  unit.start(kOwnCgroups);
  CHECK(unit.isolation("com.bystander") == with_landlock("uid", "+seccomp+cgroup"));
  check_kill(unit);
  check_stop(unit);
}
