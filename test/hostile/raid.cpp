// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/raid.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <thread>

#include "core/child/landlock.hpp"
#include "test/hostile/agent_view.hpp"
#include "test/hostile/answers.hpp"
#include "test/hostile/big_answer.hpp"
#include "test/hostile/configuration.hpp"
#include "test/hostile/control.hpp"
#include "test/hostile/effects.hpp"
#include "test/hostile/hook_node.hpp"
#include "test/hostile/listeners.hpp"
#include "test/hostile/promise.hpp"

namespace koord::hostile {
namespace {

using namespace std::chrono_literals;
using test::AgentProcess;
using test::built;
using test::eventually;
using Clock = std::chrono::steady_clock;

constexpr auto kFloodTime = 2500ms;
constexpr auto kIdleTime = 1s;  // time for measuring the agent's usage without an attack
constexpr auto kPatience = 60s;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double wall_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

class Raid {
 public:
  Raid(std::vector<const Attack*> attacks, Rights rights) : attacks_(std::move(attacks)), rights_(rights) {}
  std::vector<Verdict> run();

 private:
  const Attack& only() const { return *attacks_.front(); }
  void prepare();
  std::string configuration(std::span<const Attack* const> enabled);
  Words words();
  bool begin();
  bool await_bystander();
  void judge_level();
  void measure_before();
  void enable_attacks();
  bool watch_until(const std::function<bool()>& condition, std::chrono::milliseconds patience);

  void judge_answers();
  void judge_flood();
  void judge_bomb();
  void judge_name(Verdict& verdict, const Attack& attack);
  void judge_ends();
  void judge_lies();
  void judge_hooks();
  void judge_node();
  void judge_gaps();
  void judge_growth_and_delay();
  void judge_rest();

  NodeState node_state_now() {
    const std::vector<std::string> folders{agent_->plugin_folder(), built("plugins/advisor-node-resource")};
    return read_node_state(agent_->process().pid(), plugin_pids(*agent_), folders);
  }
  bool runs() { return agent_->process().running(); }
  void complain(const std::string& text) {
    for (Verdict& verdict : verdicts_) verdict.complaints.push_back(text);
  }
  void note(const std::string& text) {
    for (Verdict& verdict : verdicts_) verdict.note += (verdict.note.empty() ? "" : ", ") + text;
  }

  std::vector<const Attack*> attacks_;
  Rights rights_;
  std::optional<AgentProcess> agent_;
  std::optional<Listeners> listeners_;
  std::optional<BigAnswer> endpoint_;  // only for attacks by scrapes
  std::optional<HookNode> hook_node_;  // only for attacks by hooks
  Canary canary_;
  Control control_;
  NodeState before_;
  double begin_ = 0;  // Unix time
  double idle_cores_ = 0;
  long memory_before_ = 0, most_memory_ = 0, descriptors_before_ = 0;
  std::vector<Verdict> verdicts_;
};

void Raid::prepare() {
  agent_.emplace("", std::vector<std::string>{built("plugins/advisor-node-resource")});
  // Each plugin's user must reach its state directory, even if the agent may not pass closed folders.
  ::chmod(agent_->folder().path().c_str(), 0755);
  listeners_.emplace(agent_->folder().path());
  if (only().is_scraped()) endpoint_.emplace();
  if (only().is_hook()) {
    hook_node_.emplace(agent_->folder().path());
    std::filesystem::copy(built("test/hostile/neighbour.so"), agent_->plugin_folder() + "/neighbour.so");
  }
  std::ofstream(agent_->folder() / "secret") << "secret";
  ::chmod((agent_->folder() / "secret").c_str(), 0600);
  std::filesystem::copy(built("test/hostile/bystander.so"), agent_->plugin_folder() + "/bystander.so");
  for (const Attack* attack : attacks_)
    write_plugin(*attack, built("test/hostile/hostile.so"), agent_->plugin_folder());
  agent_->write_config(configuration({}));
  agent_->run_by(words_of(rights_, agent_->folder().path()));
  for (const Attack* attack : attacks_) verdicts_.push_back({std::string(attack->name), {}, ""});
}

Words Raid::words() {
  return {{"socket", agent_->socket()},
          {"own", built("plugins/advisor-node-resource")},
          {"plugins", agent_->plugin_folder()},
          {"folder", agent_->folder().path()},
          {"store", agent_->store_path()},
          {"config", agent_->config_path()},
          {"secret", agent_->folder() / "secret"},
          {"program", built("core/plugin_host/koord-plugin-host")},
          {"cgroup", "/sys/fs/cgroup"},
          {"service", listeners_->path()},
          {"abstract", listeners_->abstract_name()},
          {"datagram", listeners_->datagram_path()},
          {"port", std::to_string(listeners_->port())},
          {"endpoint", endpoint_ ? endpoint_->url() : ""}};
}

std::string Raid::configuration(std::span<const Attack* const> enabled) {
  return "  cpuBudget: 0\n  settings:\n    advisor-node-resource: {period: 100ms, deadline: 1s}\n" +
         settings_of(attacks_, "3s", words()) + "qos: {mode: enforce}\n" +
         (hook_node_ ? hook_node_->configuration() : "") +
         (only().is_about_verdicts() ? "state: {source: cgroup, cgroup: {paths: [" + Canary::name() + "]}}\n" : "") +
         "featureGates:\n" + gates_of(enabled);
}

bool Raid::await_bystander() {
  agent_->launch();
  const auto up = [&] {
    return agent_->status_of("/readyz") == 200 && sample_times(*agent_, "bystander_ticks").size() > 3;
  };
  if (eventually([&] { return !runs() || up(); }, kPatience) && runs()) return true;
  const std::string log = agent_->log();
  const std::string end = log.substr(log.size() - std::min<std::size_t>(log.size(), 400));
  complain((runs() ? "not ready, or the bystander does not tick: " : "the agent has ended: ") + end);
  return false;
}

// Checks that the plugins have exactly the isolation layers that these rights allow.
void Raid::judge_level() {
  const std::string level = level_of(*agent_, "com.bystander");
  for (std::string_view layer : {"uid", "landlock", "seccomp"}) {
    const bool is_wanted = layer != lacking_layer(rights_) && (layer != "landlock" || child::landlock_abi());
    if (contains(level, layer) != is_wanted) complain("the level of plugins is '" + level + "'");
  }
}

// Measures the agent without an attack.
void Raid::measure_before() {
  const pid_t agent = agent_->process().pid();
  if (only().batch == Batch::flood) {
    const Clock::time_point begin = Clock::now();
    const double cpu_before = cpu_seconds(agent);
    std::this_thread::sleep_for(kIdleTime);
    idle_cores_ = (cpu_seconds(agent) - cpu_before) / seconds_since(begin);
  }
  begin_ = wall_now();
  before_ = node_state_now();
  memory_before_ = most_memory_ = status_number(agent, "RssAnon");
  descriptors_before_ = descriptors_of(agent);
}

void Raid::enable_attacks() {
  agent_->write_config(configuration(attacks_));
  agent_->process().signal(SIGHUP);
  if (!watch_until([&] { return contains(agent_->log(), "configuration read again"); }, kPatience))
    complain("the agent did not read its configuration again");
  const auto has_begun = [&](const Attack* attack) { return plugin_view(*agent_, attack->id()).state == "running"; };
  if (only().batch == Batch::flood) watch_until([&] { return has_begun(&only()); }, kPatience);
  for (auto& [name, value] : node_state_now())
    before_.emplace(name, value);  // limits of the plugins, as the agent set them
}

// Returns false if there is no result to judge.
bool Raid::begin() {
  if (!await_bystander()) return false;
  judge_level();
  measure_before();
  enable_attacks();
  return true;
}

// Watches the agent's memory during the wait.
bool Raid::watch_until(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto ends_watch = [&] {
    most_memory_ = std::max(most_memory_, status_number(agent_->process().pid(), "RssAnon"));
    return !runs() || condition();
  };
  return eventually(ends_watch, patience) && runs();
}

void Raid::judge_answers() {
  const auto has_answered = [&](const Attack* attack) { return !answer_of(*agent_, attack->name).empty(); };
  watch_until([&] { return std::all_of(attacks_.begin(), attacks_.end(), has_answered); }, kPatience);
  for (std::size_t i = 0; i < attacks_.size(); ++i) {
    const std::string answer = answer_of(*agent_, attacks_[i]->name);
    verdicts_[i].note = answer;
    if (answer.empty())
      verdicts_[i].complaints.push_back("it did not say what it achieved; " +
                                        plugin_view(*agent_, attacks_[i]->id()).text.substr(0, 600));
    for (const std::string& step : steps_not_refused(answer))
      if (!is_harmless_step(rights_, *attacks_[i], step)) verdicts_[i].complaints.push_back(step);
    if (is_noticed_by_agent(*attacks_[i], answer)) judge_name(verdicts_[i], *attacks_[i]);
  }
}

void Raid::judge_flood() {
  const pid_t agent = agent_->process().pid();
  const auto charged_now = [&] { return plugin_view(*agent_, only().id()).charged_seconds; };
  const Clock::time_point begin = Clock::now();
  if (endpoint_) endpoint_->begin();
  const double cpu_before = cpu_seconds(agent), charged_before = charged_now();
  watch_until([&] { return Clock::now() >= begin + kFloodTime; }, kPatience);
  const double time = seconds_since(begin), charged = charged_now() - charged_before;
  const double spent = cpu_seconds(agent) - cpu_before - idle_cores_ * time;
  char figures[100];
  std::snprintf(figures, sizeof figures, "CPU %.2f s in %.1f s, charged %.2f s", spent, time, charged);
  note(figures);
  if (const std::string complaint = complaint_about_charge(spent, charged, time); !complaint.empty())
    complain(complaint);
  if (is_flood_named(only())) judge_name(verdicts_.front(), only());
  if (only().name.ends_with("_bomb")) judge_bomb();
}

void Raid::judge_bomb() {
  const auto answer = [&] { return answer_of(*agent_, only().name); };
  watch_until([&] { return !answer().empty(); }, kPatience);
  note(answer());
  if (const std::string complaint = complaint_about_bomb(answer()); !complaint.empty()) complain(complaint);
}

// The line about a budget needs several measurements, one each 5 s.
void Raid::judge_name(Verdict& verdict, const Attack& attack) {
  const auto is_named = [&] { return names_culprit(*agent_, attack.id(), std::string(attack.name) + ".so"); };
  if (!watch_until(is_named, kPatience)) verdict.complaints.emplace_back("no line names it");
}

void Raid::judge_ends() {
  const auto has_ended = [&](const Attack* attack) {
    const PluginView now = plugin_view(*agent_, attack->id());
    return now.restarts > 0 || now.state == "parked" || now.state == "failed" || now.state == "wedged" ||
           attack->name == "ignore_stop";
  };
  watch_until([&] { return std::all_of(attacks_.begin(), attacks_.end(), has_ended); }, kPatience);
  if (!runs()) return complain("the agent has ended");
  const std::string plugins = agent_->ctl({"plugins"}).output;
  for (std::size_t i = 0; i < attacks_.size(); ++i) {
    const Attack* attack = attacks_[i];
    const PluginView now = plugin_view(*agent_, attack->id());
    verdicts_[i].note = now.reason;
    if (!has_ended(attack)) verdicts_[i].complaints.push_back("it was not ended: " + now.text.substr(0, 400));
    if (!contains(plugins, attack->id())) verdicts_[i].complaints.push_back("koordctl plugins does not name it");
    if (attack->name != "ignore_stop") judge_name(verdicts_[i], *attack);
  }
  // Attacks with processes that outlive the plugin have ended at least once.
  if (!eventually([] { return hostile_daemons().empty(); }, 10s))
    complain(std::to_string(hostile_daemons().size()) + " processes are left");
}

void Raid::judge_lies() {
  // If the manifest is unreadable, the log names the file.
  const auto is_refused = [&](const Attack* attack) {
    const std::string name = attack->name == "steal_id" ? "advisor-node-resource" : std::string(attack->name);
    const std::string log = agent_->log(), state = plugin_view(*agent_, attack->id()).state;
    const bool is_named = contains(log, name + " is refused") || contains(log, name + ".so") ||
                          contains(log, attack->id() + " is refused");
    const bool has_ended = state == "refused" || state == "failed" || state == "parked" ||
                           (state == "disabled" && attack->name == "manifest_default");
    return is_named || has_ended || (attack->name == "file_sparse" && state == "running");
  };
  watch_until([&] { return std::all_of(attacks_.begin(), attacks_.end(), is_refused); }, 30s);
  if (!runs()) return complain("the agent has ended");
  for (std::size_t i = 0; i < attacks_.size(); ++i) {
    const PluginView now = plugin_view(*agent_, attacks_[i]->id());
    verdicts_[i].note = "state '" + now.state + "', reason '" + now.reason + "'";
    if (!is_refused(attacks_[i])) verdicts_[i].complaints.push_back("it was not refused: " + now.text.substr(0, 300));
    if (now.state == "running" && attacks_[i]->name != "file_sparse") verdicts_[i].complaints.push_back("it runs");
  }
}

void Raid::judge_hooks() {
  const auto watch = [this](const std::function<bool()>& condition) { return watch_until(condition, kPatience); };
  for (const std::string& complaint : complaints_about_hooks(only(), *agent_, *hook_node_, watch)) complain(complaint);
}

void Raid::judge_gaps() {
  const std::vector<double> beats = control_.beats();
  for (const char* metric : {"bystander_ticks", "node_memory_usage"}) {
    std::vector<double> times = sample_times(*agent_, metric);
    std::erase_if(times, [&](double time) { return time < begin_ - 0.5; });
    if (times.empty()) times.push_back(begin_);
    times.push_back(wall_now());
    if (const std::string complaint = complaint_about_gaps(metric, times, beats); !complaint.empty())
      complain(complaint);
  }
}

void Raid::judge_growth_and_delay() {
  const double asked = wall_now();
  if (agent_->status_of("/readyz") != 200) complain("the agent is not ready");
  const double answered = wall_now();
  if (answered - asked - delay_of_control(control_.beats(), asked, answered) > kMaxGap)
    complain("/readyz took " + std::to_string(answered - asked) + " s");
  most_memory_ = std::max(most_memory_, status_number(agent_->process().pid(), "RssAnon"));
  note("agent +" + std::to_string(most_memory_ - memory_before_) + " KiB");
  if (const std::string complaint = complaint_about_growth(most_memory_ - memory_before_); !complaint.empty())
    complain(complaint);
}

void Raid::judge_node() {
  if (!runs()) return complain("the agent has ended");
  judge_growth_and_delay();
  const pid_t agent = agent_->process().pid();
  for (const std::string& difference : differences(before_, node_state_now())) complain(difference);
  if (!eventually([&] { return zombies_of(agent) == 0; }, 10s))
    complain(std::to_string(zombies_of(agent)) + " zombies of the agent");
  const long more = descriptors_of(agent) - descriptors_before_;
  if (more > 60 + 20 * static_cast<long>(attacks_.size()))
    complain("the agent has " + std::to_string(more) + " descriptors more than before");
}

// Checks that nothing of the plugins remains after the agent's end.
void Raid::judge_rest() {
  const bool ran = runs();
  const Clock::time_point begin = Clock::now();
  if (!ran)
    agent_->kill();
  else if (agent_->stop() != 0)
    complain("the agent did not end by itself");
  for (std::size_t i = 0; i < attacks_.size(); ++i)
    for (const std::string& effect : effects_on_stop(*attacks_[i], agent_->log()))
      verdicts_[i].complaints.push_back(effect);
  if (seconds_since(begin) > 3)
    note("the agent took " + std::to_string(static_cast<int>(seconds_since(begin))) + " s to end");
  if (ran && !eventually([] { return hostile_processes().empty(); }, 10s))
    complain(std::to_string(hostile_processes().size()) + " processes are left after the agent's end");
  if (ran && !eventually([] { return hostile_cgroups().empty(); }, 10s))
    complain("left after the agent's end: " + hostile_cgroups().front());
  for (pid_t pid : hostile_processes()) ::kill(pid, SIGKILL);
  // The next plugin has the same user.
  if (only().name.ends_with("_bomb")) eventually([] { return !has_zombies_of_plugins(); }, kPatience);
  if (!hostile_cgroups().empty()) remove_hostile_cgroups();
}

std::vector<Verdict> Raid::run() {
  prepare();
  if (begin()) {
    switch (only().batch) {
      case Batch::quiet:
      case Batch::alone:
        judge_answers();
        break;
      case Batch::flood:
        judge_flood();
        break;
      case Batch::end:
        judge_ends();
        break;
      case Batch::lie:
        judge_lies();
        break;
    }
    if (runs() && hook_node_) judge_hooks();
    judge_node();
    if (runs()) judge_gaps();
    for (std::size_t i = 0; i < attacks_.size(); ++i)
      for (const std::string& effect : effects_of(*attacks_[i], *agent_, rights_))
        verdicts_[i].complaints.push_back(effect);
  }
  if (std::getenv("KOORD_HOSTILE_LOG")) std::fprintf(stderr, "%s\n", agent_->log().c_str());
  return judge_rest(), verdicts_;
}

}  // namespace

std::vector<Verdict> run_raid(const std::vector<const Attack*>& attacks, Rights rights) {
  return Raid(attacks, rights).run();
}

}  // namespace koord::hostile
