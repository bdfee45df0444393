// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/fuzz.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/load/manifest.hpp"
#include "core/service/status.hpp"
#include "core/workshop/check/class_trial.hpp"
#include "core/workshop/check/garble.hpp"
#include "core/workshop/node_tree.hpp"
#include "core/workshop/sample_node.hpp"

namespace koord::check {
namespace {

constexpr std::uint64_t kMostSteps = 30;
constexpr koord_status kAnswers[] = {KOORD_E_INVALID,  KOORD_E_UNSUPPORTED, KOORD_E_AGAIN,
                                     KOORD_E_DEADLINE, KOORD_E_DENIED,      KOORD_E_NOMEM,
                                     KOORD_E_GONE,     KOORD_E_NOT_FOUND,   KOORD_E_IO};
constexpr std::uint32_t kEvents[] = {KOORD_ON_NODE, KOORD_ON_PODS, KOORD_ON_NODE_SLO, KOORD_ON_TOPOLOGY,
                                     KOORD_ON_CONFIG};

using workshop::NodeTree;
using workshop::Tree;
using workshop::TreeEntry;

std::vector<std::string> files_of(const Tree& tree) {
  std::vector<std::string> files;
  for (const auto& [path, entry] : tree)
    if (entry.type == TreeEntry::Type::file) files.push_back(path);
  return files;
}

// Returns the directories of cgroups. Each is also added without its first part, because plugins name cgroups without
// the hierarchy of cgroup v1.
std::vector<std::string> cgroup_dirs_of(const Tree& tree) {
  std::vector<std::string> dirs;
  for (const auto& [path, entry] : tree) {
    if (entry.type != TreeEntry::Type::directory || !path.starts_with("cgroup/")) continue;
    dirs.push_back(path.substr(7));
    if (std::size_t below = dirs.back().find('/'); below != std::string::npos)
      dirs.push_back(dirs.back().substr(below + 1));
  }
  return dirs;
}

// Restores the tree as it was before a session. Reads files first and writes only changed files, because reading takes
// a tenth of the time.
void restore(const Tree& tree, NodeTree& node) {
  workshop::Frame changed;
  for (const auto& [path, entry] : tree) {
    if (entry.type != TreeEntry::Type::file) continue;
    Result<std::string> now = read_file(node.path(path));
    if (!now || *now != entry.content) changed.changed.emplace(path, entry);
  }
  workshop::apply(changed, node);
}

// A session that its seed determines.
class RandomSession {
 public:
  // `node` has the content of `tree`.
  RandomSession(const Suspect& suspect, const Tree& tree, NodeTree& node, std::uint64_t seed)
      : suspect_(suspect),
        tree_(tree),
        files_(files_of(tree)),
        cgroup_dirs_(cgroup_dirs_of(tree)),
        node_(node),
        random_(seed) {}

  Outcome run() {
    auto module = load::Module::load_untried(suspect_.path, *suspect_.manifest);
    if (!module) return Outcome::failed(module.error().message());
    PluginTrial trial(node_.roots());
    plan_faults(trial.faults());
    ClassTrial class_trial{suspect_, trial, **module, random_.below((*module)->classes().size())};
    return judge(trial, take_steps(class_trial));
  }

 private:
  // Selects faults for the whole session.
  void plan_faults(FaultInjection& faults) {
    constexpr Lending kLendings[] = {Lending::plainly, Lending::read_only, Lending::until_back, Lending::widely};
    faults.lending = random_.any_of(kLendings);
    faults.tables = random_.one_in(4) ? Tables::grown : Tables::whole;
    faults.needs_more = random_.one_in(8);
    for (const std::string& service : suspect_.manifest->optional_services)
      if (random_.one_in(4)) faults.missing.insert(service);
  }

  // Runs the steps. Returns the number of snapshots that the plugin still held at the end.
  std::size_t take_steps(ClassTrial& class_trial) {
    if (random_.one_in(4)) garble_files();
    CalledInstance instance = class_trial.instance();
    note("create and init");
    bool alive = instance.create() == KOORD_OK && instance.init() == KOORD_OK;
    if (alive && random_.one_in(2)) instance.start_run();
    for (std::uint64_t step = alive ? 1 + random_.below(kMostSteps) : 0; step > 0; --step)
      take_step(class_trial, instance);
    class_trial.trial.faults().answer.reset();
    note("the end");
    if (alive && !instance.stop())
      class_trial.trial.seen().out_of_place.add("run() had not returned 5 s after stop() and the signal");
    if (instance.self()) instance.destroy();
    return instance.host().snapshots_held();
  }

  void take_step(ClassTrial& class_trial, CalledInstance& instance) {
    PluginTrial& trial = class_trial.trial;
    switch (random_.below(8)) {
      case 0:
        note("garbled files");
        garble_files();
        break;
      case 1:
        note("other pods");
        trial.publish_pods(garbled_pods(random_, cgroup_dirs_));
        break;
      case 2: {
        trial.faults().answer.reset();
        if (random_.one_in(2)) trial.faults().answer = random_.any_of(kAnswers);
        const auto& answer = trial.faults().answer;
        note(answer ? "services answer " + service::name_of_status(*answer) : "services answer as usual");
        break;
      }
      case 3:
        note("an event");
        instance.on_event(random_.any_of(kEvents));
        break;
      case 4: {
        constexpr std::int64_t kJumps[] = {0, 1, 1'000'000, 3'600'000'000'000, 31'536'000'000'000'000};
        const Duration jump(random_.any_of(kJumps));
        note("a tick " + format_duration(jump) + " later");
        trial.clock().advance(jump);
        instance.tick_at(to_ns(trial.clock().now()));
        break;
      }
      default:
        note("a tick");
        instance.tick();
    }
  }

  void garble_files() {
    for (std::uint64_t i = 1 + random_.below(20); i > 0; --i) {
      const std::string& path = random_.any_of(files_);
      if (random_.one_in(5))
        node_.remove(path);
      else
        node_.write(path, garble(random_, tree_.at(path).content));
    }
  }

  void note(const std::string& what) { note_circumstance("step " + std::to_string(++steps_) + ": " + what); }

  static Outcome judge(const PluginTrial& trial, std::size_t snapshots_held) {
    const Seen& seen = trial.seen();
    for (const Violations* violations : {&seen.thrown, &seen.not_a_status, &seen.out_of_place, &seen.after_destroy})
      if (std::string first = violations->first(); !first.empty()) return Outcome::failed(first);
    if (snapshots_held > 0)
      return Outcome::failed(std::to_string(snapshots_held) + " snapshots of the state were not released");
    return {};
  }

  const Suspect& suspect_;
  const Tree& tree_;
  const std::vector<std::string> files_, cgroup_dirs_;
  NodeTree& node_;
  RandomSource random_;
  std::uint64_t steps_ = 0;
};

}  // namespace

Result<std::optional<FuzzFinding>> fuzz_plugin(const std::string& path, const FuzzSettings& settings,
                                               const std::function<void(std::uint64_t sessions)>& lived) {
  load::Manifest manifest = TRY(load::read_manifest(path));
  Suspect suspect{.path = path, .facts = {}, .manifest = std::move(manifest), .config_json = settings.config_json};
  const Tree tree = workshop::sample_node().frames.front().changed;
  NodeTree node;  // in this process, so it is removed even if a session crashes
  workshop::apply({Duration(), tree, {}}, node);
  for (std::uint64_t session = 0; session < settings.sessions; ++session) {
    const std::uint64_t seed = settings.seed + session;
    restore(tree, node);
    Outcome outcome = try_apart([&] { return RandomSession(suspect, tree, node, seed).run(); });
    if (outcome.kind == Outcome::Kind::failed) return std::optional(FuzzFinding{seed, std::move(outcome.detail)});
    lived(session + 1);
  }
  return std::optional<FuzzFinding>();
}

}  // namespace koord::check
