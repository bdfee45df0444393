// SPDX-License-Identifier: Apache-2.0
// advisor-interference: detects which containers are slowed down, by which others, and how much.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/cgroup/layout.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/cache_verdicts.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/advisor-interference/cpu_series.hpp"
#include "plugins/advisor-interference/cpu_use.hpp"
#include "plugins/advisor-interference/cpu_windows.hpp"
#include "plugins/advisor-interference/kept_baselines.hpp"
#include "plugins/advisor-interference/looked_at.hpp"
#include "plugins/advisor-interference/loss_series.hpp"
#include "plugins/advisor-interference/other_resources.hpp"
#include "plugins/advisor-interference/quota_sources.hpp"
#include "plugins/advisor-interference/requests.hpp"
#include "plugins/advisor-interference/rule_in_force.hpp"
#include "plugins/advisor-interference/settings.hpp"
#include "plugins/advisor-interference/usable_cpus.hpp"
#include "plugins/advisor-interference/verdict_post.hpp"
#include "plugins/advisor-interference/verdict_text.hpp"
#include "plugins/advisor-interference/wait_pairs.hpp"
#include "plugins/advisor-interference/waits_post.hpp"
#include "plugins/shared/bpf/plugin_marker.hpp"
#include "plugins/shared/latency/followed.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::analysis::Change;
using koord::analysis::CpuAnalysis;
using koord::analysis::CpuSubject;
using koord::analysis::CpuWindow;
using koord::analysis::Kind;
using koord::analysis::Suspect;
using koord::analysis::SuspectKind;
using koord::analysis::Verdict;
using koord::analysis::VerdictEvent;
using koord::interference::Blame;
using koord::interference::ContainerTimes;
using koord::interference::CpuBlame;
using koord::interference::CpuMetrics;
using koord::interference::CpuReading;
using koord::interference::CpuSeries;
using koord::interference::CpuTimes;
using koord::interference::CpuUse;
using koord::interference::kCpuKinds;
using koord::interference::KnownContainer;
using koord::interference::kWaitCauses;
using koord::interference::OtherResources;
using koord::interference::Requests;
using koord::interference::UnusedCpus;
using koord::interference::UsableCpus;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::value_or_fail;

constexpr auto kConfigSchema =
    koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {)",
                            koord::tracing::kMarkerSettings, ",", koord::interference::kRuleSettings, ",",
                            koord::interference::kCacheSettings, R"(,
    "btf": {"type": "string", "description": "file with the kernel's types, if the kernel itself has none"}
  }})");

constexpr std::chrono::nanoseconds kWindow = 1s;
// A longer window does not represent single seconds.
constexpr double kLongestWindow = 5;
// Containers may create cgroups inside their own. Searching these costs more than a window.
constexpr int kWindowsBetweenRefreshes = 5;

// Names of a container in verdicts, and its workload.
struct Names {
  std::string full, workload, cgroup_dir;
  Requests requests = {};
  bool is_sandbox = false;
  std::shared_ptr<const koord::analysis::Rules> rules = nullptr;  // rules of its workload; null: the node's rules
};

class Interference final : public koord::plugin::Advisor {
 public:
  void init() override {
    const koord::plugin::Config config(host());
    rule_.emplace(host(), koord::interference::read_rule(config), config.boolean("/clusterRules").value_or(true));
    const koord::analysis::Rules& rules = rule_->rules();
    const koord::interference::CacheSettings cache = koord::interference::read_cache_settings(config);
    analysis_ = CpuAnalysis(rules);
    kept_.emplace(host(), rules.baseline.save_interval);
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    audit_ = koord::plugin::require<koord_svc_audit>(host(), "koord.audit/1");
    posts_ = koord::interference::VerdictPost(host(), kWindow);
    batch_ = Batch(host());
    metrics_.interference =
        define({"container_interference", "ratio", "1: a verdict of this kind stands about the container."});
    metrics_.held_up =
        define({"container_held_up_ratio", "ratio",
                "Share of requests that are held up for longer than this, estimated from waits for a CPU.", 1e-6});
    metrics_.waits =
        define({"container_held_up_seconds_total", "seconds",
                "Time that threads of a container spent in waits of 1 ms and more, by cause.", 1e-6, KOORD_COUNTER});
    losses_ = koord::interference::LossSeries(host());
    const koord::NodeRoots roots = koord::node::roots_of(host());
    stat_file_ = roots.proc + "/stat";
    layout_ = value_or_fail(koord::cgroup::Layout::detect(roots), KOORD_E_UNSUPPORTED);
    quotas_.emplace(*layout_);
    tree_ = std::make_unique<koord::latency::CgroupTree>(
        value_or_fail(koord::latency::CgroupTree::find("cpu", roots.cgroup, roots.proc), KOORD_E_UNSUPPORTED));
    marker_ = koord::tracing::mark_tracing(host(), "advisor-interference", roots.proc);
    const std::string btf = config.string("/btf").value_or("");
    blame_ = std::make_unique<CpuBlame>(value_or_fail(CpuBlame::open(*tree_, btf), KOORD_E_UNSUPPORTED));
    waits_post_ = koord::interference::WaitsPost(host());
    pairs_ = koord::interference::WaitPairs(host(), "cpu");
    koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1")
        ->report(host(), koord::plugin::str("verdict.cpu"), KOORD_CAPABILITY_SUPPORTED,
                 koord::plugin::str("exact: run segments of each CPU (eBPF)"));
    others_ = std::make_unique<OtherResources>(host(), *layout_, roots, btf, metrics_.interference, kWindow, *rule_);
    cache_ = koord::interference::CacheVerdicts::open(host(), roots, cache, metrics_.interference);
    log_rule();
  }

  void stop() override {
    if (kept_) kept_->save(analysis_, koord::from_ns(last_ns_));
    if (others_) others_->save(koord::from_ns(last_ns_));
    if (cache_) cache_->stop(koord::from_ns(last_ns_));
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow();
    const CpuReading reading = value_or_fail(blame_->read(waits_post_.begin_window()));
    waits_post_.update(reading.waits, now_ns);
    windows_.advance(reading.times);
    const UnusedCpus unused = unused_in_window();
    const koord::Time now = koord::from_ns(now_ns);
    if (windows_since_refresh_ == 0 && rule_->refresh()) take_rule(now);
    for (const std::string& problem : kept_->restore_once(analysis_, now))
      log(KOORD_LOG_WARN, "saved baselines: " + problem);
    if (windows_since_refresh_ == 0)
      for (const std::string& problem : kept_->adopt_offered(analysis_, now))
        log(KOORD_LOG_WARN, "baselines of the cluster: " + problem);
    for (const std::string& problem : others_->restore(now, windows_since_refresh_ == 0))
      log(KOORD_LOG_WARN, "saved baselines: " + problem);
    const double seconds = static_cast<double>(now_ns - std::exchange(last_ns_, now_ns)) / 1e9;
    if (seconds <= 0 || seconds > kLongestWindow) return others_->skip(known_containers(), windows_since_refresh_ == 0);
    std::vector<CpuSubject> subjects =
        koord::interference::cpu_subjects(containers(), reading.blames, container_of_, seconds);
    describe_crowded(subjects, reading, unused, seconds);
    record(analysis_.add(now, subjects), "cpu");
    record(others_->collect(now, seconds, known_containers(), windows_since_refresh_ == 0));
    if (cache_) record(cache_->collect(now, known_containers()), "cache");
    kept_->save_if_due(analysis_, now);
    others_->save_if_due(now);
    report(subjects, seconds);
    pairs_.report(
        subjects, [this](std::uint64_t subject) { return name_of_container(subject); }, batch_);
    others_->report(batch_);
    if (cache_) cache_->report(batch_);
    losses_.report(reading, batch_);
    batch_.send(now_ns);
    post(subjects);
  }

 private:
  void take_rule(koord::Time now) {
    record(analysis_.set_rules(rule_->rules(), now), "cpu");
    record(others_->set_rules(*rule_));
    if (!names_.empty()) learn_names();
    kept_->set_interval(rule_->rules().baseline.save_interval);
    log_rule();
  }

  void log_rule() const {
    log(KOORD_LOG_INFO, "rule: " + rule_->origin());
    for (const std::string& problem : rule_->problems()) log(KOORD_LOG_WARN, problem + "; it is left out");
  }

  void post(const std::vector<CpuSubject>& subjects) {
    const std::vector<Verdict> verdicts = analysis_.standing();
    const auto looked_at = [&](std::uint64_t victim) {
      std::vector<std::pair<std::string, std::string>> found;
      const bool has_verdict = std::any_of(verdicts.begin(), verdicts.end(),
                                           [victim](const Verdict& verdict) { return verdict.victim == victim; });
      for (const CpuSubject& subject : subjects)
        if (subject.window.subject == victim && !has_verdict)
          found.emplace_back("cpu", koord::interference::looked_at_cpu(subject.window.held_up));
      others_->add_looked_at(victim, found);
      return found;
    };
    posts_.update(verdicts, {[this](std::uint64_t handle) { return requests_of_container(handle).cpus; }, looked_at,
                             "run segments of each CPU"});
    others_->post(looked_at, [this](std::uint64_t handle) { return requests_of_container(handle).memory_bytes; });
  }

  Requests requests_of_container(std::uint64_t handle) const {
    const auto found = names_.find(handle);
    return found == names_.end() ? Requests() : found->second.requests;
  }

  void follow() {
    const bool is_new = followed_.follow(
        host(), state_, [this](std::uint64_t handle, bool is_pod) { return CpuSeries(metrics_, handle, is_pod); });
    if (is_new) learn_names();
    if (!is_new && ++windows_since_refresh_ < kWindowsBetweenRefreshes) return;
    windows_since_refresh_ = 0;
    followed_.find_cgroups(*tree_);
    container_of_.clear();
    // Cgroups outside of pods may be listed together with an ancestor cgroup. The innermost cgroup counts.
    std::map<std::uint64_t, std::size_t> depths;
    followed_.for_each_cgroup([&](const CpuSeries& series, std::uint64_t id) {
      const auto names = names_.find(series.handle);
      if (series.kinds.empty() || names == names_.end()) return;
      const std::size_t depth = names->second.cgroup_dir.size() + 1;
      if (depth <= depths[id]) return;
      container_of_[id] = series.handle;
      depths[id] = depth;
    });
  }

  void learn_names() {
    names_.clear();
    const Snapshot snapshot(host(), state_);
    for (const koord_pod& pod : snapshot.pods()) {
      const std::string ns(koord::plugin::view(pod.ns)), owner(koord::plugin::view(pod.owner_name));
      const auto rules = rule_->rules_of(pod);
      const std::string name = (ns.empty() ? ns : ns + "/") + std::string(koord::plugin::view(pod.name));
      for (const koord_container& container : koord::plugin::containers_of(pod)) {
        const std::string own(koord::plugin::view(container.name));
        names_[container.handle] = {name + "/" + own,
                                    owner.empty() ? name + "/" + own : ns + "/" + owner + "/" + own,
                                    std::string(koord::plugin::view(container.cgroup_dir)),
                                    koord::interference::requests_of(container),
                                    container.kind == KOORD_CONTAINER_SANDBOX,
                                    rules};
      }
    }
    for (const koord_container& container : snapshot.containers()) {
      const std::string own(koord::plugin::view(container.name));
      names_[container.handle] = {own, own, std::string(koord::plugin::view(container.cgroup_dir)), {}};
    }
  }

  std::vector<ContainerTimes> containers() {
    auto times = koord::interference::times_by_container(windows_, container_of_);
    std::vector<ContainerTimes> all;
    for (const auto& [handle, names] : names_) {
      if (names.cgroup_dir.empty()) continue;
      all.push_back({.handle = handle, .workload = names.workload, .times = times[handle], .rules = names.rules});
    }
    find_quotas(all);
    return all;
  }

  // Reads several files of a container, so it is called only if a container waits for CPUs that its threads use.
  void describe_crowded(std::vector<CpuSubject>& subjects, const CpuReading& reading, const UnusedCpus& unused,
                        double seconds) const {
    const auto crowded = koord::interference::waiting_for_themselves(reading.blames, container_of_);
    if (crowded.empty()) return;
    const CpuUse use(reading.runs, container_of_, unused, seconds);
    for (CpuSubject& subject : subjects) {
      if (!crowded.contains(subject.window.subject)) continue;
      const UsableCpus usable =
          koord::interference::usable_cpus(*layout_, names_.at(subject.window.subject).cgroup_dir);
      subject.window.usable_cpus = usable.number;
      use.describe(subject.window, usable.set);
    }
  }

  UnusedCpus unused_in_window() {
    UnusedCpus now = koord::interference::parse_unused_cpus(koord::read_file(stat_file_).value_or(""));
    UnusedCpus unused = added(unused_, now);
    unused_ = std::move(now);
    return unused;
  }

  // Reads files, too, so it is called only for throttled containers.
  void find_quotas(std::vector<ContainerTimes>& all) {
    quotas_->begin_window();
    for (ContainerTimes& container : all) {
      if (container.times.throttled == 0) continue;
      const auto source = quotas_->of(names_.at(container.handle).cgroup_dir);
      container.is_quota_known = source.is_known;
      container.throttled_above = source.above;
      if (source.cgroup.empty()) continue;
      for (const ContainerTimes& other : all)
        if (other.handle != container.handle && names_.at(other.handle).cgroup_dir.starts_with(source.cgroup + "/"))
          container.sharers.push_back(other.handle);
    }
  }

  std::vector<KnownContainer> known_containers() const {
    std::vector<KnownContainer> all;
    for (const auto& [handle, names] : names_)
      all.push_back({handle, names.workload, names.cgroup_dir, names.is_sandbox, names.rules});
    return all;
  }

  void record(const std::vector<VerdictEvent>& events, const std::string& resource) {
    for (const VerdictEvent& event : events) record(event.change, event.verdict, resource);
  }

  void record(const std::vector<OtherResources::Event>& events) {
    for (const OtherResources::Event& one : events)
      record(one.event.change, one.event.verdict,
             std::string(one.resource) + (one.device.empty() ? "" : " " + one.device));
  }

  void record(Change change, const Verdict& verdict, const std::string& resource) {
    const std::string what = change == Change::confirmed ? "interference" : "interference ended";
    const std::string why =
        name_of_container(verdict.victim) + ": " + std::string(name_of(verdict.kind)) + ", " + resource + ": " +
        koord::interference::describe(verdict, [this](std::uint64_t subject) { return name_of_container(subject); });
    audit_->record(host(), verdict.victim, koord::plugin::str(what), koord::plugin::str(why));
  }

  std::string name_of_container(std::uint64_t handle) const {
    const auto found = names_.find(handle);
    return found == names_.end() ? "" : found->second.full;
  }

  void report(const std::vector<CpuSubject>& subjects, double seconds) {
    std::map<std::uint64_t, const CpuWindow*> windows;
    for (const CpuSubject& subject : subjects) windows[subject.window.subject] = &subject.window;
    std::map<std::uint64_t, Kind> verdicts;
    for (const Verdict& verdict : analysis_.standing()) verdicts[verdict.victim] = verdict.kind;
    followed_.for_each(windows_, [&](CpuSeries& series, const CpuTimes&) {
      const auto window = windows.find(series.handle);
      if (window == windows.end()) return;
      const auto verdict = verdicts.find(series.handle);
      for (std::size_t i = 0; i < series.kinds.size(); ++i)
        batch_.add(series.kinds[i], verdict != verdicts.end() && verdict->second == kCpuKinds[i] ? 1 : 0);
      batch_.add(series.held_up, window->second->held_up);
      report_waits(series, *window->second, seconds);
    });
  }

  void report_waits(CpuSeries& series, const CpuWindow& window, double seconds) {
    double by_kind[3] = {};
    for (const Suspect& suspect : window.others) by_kind[static_cast<int>(suspect.kind)] += suspect.waited;
    const double waited[] = {by_kind[static_cast<int>(SuspectKind::container)],
                             window.self,
                             window.throttled,
                             by_kind[static_cast<int>(SuspectKind::kernel)],
                             by_kind[static_cast<int>(SuspectKind::outside)],
                             window.unexplained};
    for (std::size_t i = 0; i < series.waits.size(); ++i) {
      series.waited[i] += waited[i] * seconds;
      batch_.add(series.waits[i], series.waited[i]);
    }
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_audit* audit_ = nullptr;
  CpuMetrics metrics_;
  koord::interference::LossSeries losses_;
  std::uint64_t last_ns_ = 0;
  std::string stat_file_;
  UnusedCpus unused_;  // totals since boot at the end of the last window
  std::optional<koord::cgroup::Layout> layout_;
  std::optional<koord::interference::QuotaSources> quotas_;
  std::unique_ptr<koord::latency::CgroupTree> tree_;
  std::optional<koord::tracing::TracingMarker> marker_;  // must outlive the programs
  std::unique_ptr<CpuBlame> blame_;
  std::unique_ptr<OtherResources> others_;
  std::unique_ptr<koord::interference::CacheVerdicts> cache_;  // null: no verdicts about caches on this node
  koord::latency::Windows<CpuTimes> windows_;
  koord::latency::Followed<CpuSeries> followed_;
  int windows_since_refresh_ = 0;
  koord::interference::ContainerOfCgroup container_of_;
  std::map<std::uint64_t, Names> names_;  // key: the container's handle
  CpuAnalysis analysis_;
  std::optional<koord::interference::RuleInForce> rule_;
  std::optional<koord::interference::KeptBaselines> kept_;
  koord::interference::WaitsPost waits_post_;
  koord::interference::WaitPairs pairs_;
  koord::interference::VerdictPost posts_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-interference\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=InterferenceCollector\nstage=alpha\ndefault=false\n"
    "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1,koord.audit/1,koord.kv/1,koord.capabilities/1,"
    "koord.verdict/1\n"
    "license=Apache-2.0\n"
    "description=Containers that are held up, by which others, and how much\n",
    koord::plugin::advisor<Interference>("interference", kWindow, kConfigSchema.data()))
