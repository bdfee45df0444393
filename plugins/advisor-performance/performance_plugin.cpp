// SPDX-License-Identifier: Apache-2.0
// advisor-performance: reports cycles per instruction and cache misses of each container, from hardware counters that
// the containers use in turn.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "koordetector/plugin.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-performance/container_meter.hpp"
#include "plugins/advisor-performance/settings.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"
#include "plugins/shared/counters/rotation.hpp"
#include "plugins/shared/node/host.hpp"

namespace {

using namespace std::chrono_literals;
using namespace koord::performance;
using koord::Result;
using koord::UniqueFd;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::Subject;

// koordlet's window. If the plugin is configured with a different period, the window has the length of the period.
constexpr std::chrono::nanoseconds kWindow = 10s;

// Everything that the configuration defines.
struct Setup {
  Settings settings;
  EventSet events;
  DescriptorBudget budget;
};

// Counter of windows without a result, by reason.
class Dropped {
 public:
  Dropped() = default;
  explicit Dropped(const Metric& metric) {
    for (std::size_t i = 0; i < kReasons.size(); ++i)
      series_[i] = metric.series(KOORD_NO_SUBJECT, {{"reason", kReasons[i]}});
  }

  enum Reason { not_scheduled, low_ratio, incomplete };
  void count(Reason reason) { ++counts_[reason]; }
  void report(Batch& batch) const {
    for (std::size_t i = 0; i < kReasons.size(); ++i) batch.add(series_[i], counts_[i]);
  }

 private:
  static constexpr std::array<std::string_view, 3> kReasons = {"not_scheduled", "low_ratio", "incomplete"};
  std::array<std::uint64_t, kReasons.size()> series_ = {};
  std::array<double, kReasons.size()> counts_ = {};
};

class Performance final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    capabilities_ = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    files_ = koord::plugin::Files(host());
    batch_ = Batch(host());
    const Result<std::string> tree = find_perf_hierarchy(koord::node::roots_of(host()).cgroup);
    if (!tree) throw Failure(KOORD_E_UNSUPPORTED, tree.error().message());
    tree_ = *tree;
    setup_ = make_setup();
    metrics_.emplace(host());
    dropped_ = Dropped(define({"performance_windows_dropped_total", "windows",
                               "Windows of containers without counts, by reason.", 1, KOORD_COUNTER}));
    round_ =
        define({"performance_round_seconds", "seconds", "Longest time that a container has waited for counters.", 1})
            .series();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    subjects_.follow(Snapshot(host(), state_), [&](const Subject& subject) { return make_meter(subject, now_ns); });
    finish_windows(now_ns);
    begin_windows(now_ns);
    report_itself(now_ns);
    batch_.send(now_ns);
    if (failure_) throw *std::exchange(failure_, std::nullopt);
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if ((what & KOORD_ON_CONFIG) == 0) return;
    setup_ = make_setup();
    for_each_container([](ContainerMeter& meter) { meter.end_series(); });
    subjects_.clear();
  }

  void stop() override { subjects_.clear(); }

 private:
  // Pods have no meter, because their counters are not simply the sum of their containers' counters.
  using Meter = std::optional<ContainerMeter>;

  Setup make_setup() {
    const Settings settings = read_settings(host());
    const Result<EncodedEvents> encoded = encode_events(settings.events);
    if (!encoded) {
      const bool no_library = encoded.error().is(std::errc::no_such_file_or_directory);
      throw Failure(no_library ? KOORD_E_UNSUPPORTED : KOORD_E_INVALID, encoded.error().message());
    }
    const Result<UniqueFd> root = koord::open_directory(tree_);
    if (!root) throw Failure(KOORD_E_IO, root.error().message());
    Result<EventSet> events = choose_events(*encoded, root->get(), online_cpus().front());
    if (!events) {
      const std::optional<std::string> why = why_node_cannot(events.error());
      throw Failure(why ? KOORD_E_UNSUPPORTED : KOORD_E_IO, why.value_or(events.error().message()));
    }
    for (const EventSet::LeftOut& event : events->left_out)
      report_capability(event.name, KOORD_CAPABILITY_ABSENT, event.why);
    return {settings, std::move(*events), DescriptorBudget(settings.max_descriptors)};
  }

  // Reads the online CPUs. Their numbers may have gaps.
  std::vector<unsigned> online_cpus() const {
    const Result<koord::CpuSet> online = koord::CpuSet::parse(files_.read(KOORD_ROOT_SYS, "devices/system/cpu/online"));
    if (!online || online->empty()) throw Failure(KOORD_E_IO, "devices/system/cpu/online does not list the CPUs");
    return online->members();
  }

  Meter make_meter(const Subject& subject, std::uint64_t now_ns) {
    if (subject.is_pod() || subject.container->kind == KOORD_CONTAINER_SANDBOX) return std::nullopt;
    return ContainerMeter(host(), *metrics_, setup_->events, subject.handle,
                          tree_ + "/" + std::string(subject.cgroup_dir), now_ns);
  }

  template <class Each>
  void for_each_container(Each&& each) {
    subjects_.for_each([&](Meter& meter, std::string_view) {
      if (meter) each(*meter);
    });
  }

  void finish_windows(std::uint64_t now_ns) {
    bool any = false, all_unscheduled = true;
    for_each_container([&](ContainerMeter& meter) {
      if (!meter.counts()) return;
      const auto verdict = meter.finish(setup_->events, now_ns, setup_->settings.min_running_ratio, batch_);
      if (!verdict) {
        drop_incomplete(meter, verdict.error());
        return;
      }
      if (*verdict == Verdict::not_scheduled) dropped_.count(Dropped::not_scheduled);
      if (*verdict == Verdict::low_ratio) dropped_.count(Dropped::low_ratio);
      any |= *verdict != Verdict::idle;
      all_unscheduled &= *verdict == Verdict::not_scheduled || *verdict == Verdict::idle;
    });
    if (!any) return;
    if (all_unscheduled)
      report_capability(kCounters, KOORD_CAPABILITY_BROKEN,
                        "the counters are taken: by another tool, or the NMI watchdog");
    else
      report_capability(kCounters, KOORD_CAPABILITY_SUPPORTED, "");
  }

  void begin_windows(std::uint64_t now_ns) {
    std::vector<Candidate> candidates;
    for_each_container([&](const ContainerMeter& meter) {
      candidates.push_back({meter.handle(), meter.last_begin_ns()});
    });
    const std::vector<unsigned> cpus = online_cpus();
    const std::size_t each = cpus.size() * setup_->events.events.size();
    std::size_t open = 0;
    for (const std::uint64_t handle : due(std::move(candidates), now_ns, setup_->settings.interval_ns)) {
      if (!setup_->budget.admits(open, each)) break;
      ContainerMeter& meter = **subjects_.find(handle);
      if (!begin_window(meter, cpus, now_ns)) return setup_->budget.ran_short(open);
      if (meter.counts()) open += each;
    }
    setup_->budget.had_enough();
  }

  // Returns false if no descriptors are left.
  bool begin_window(ContainerMeter& meter, const std::vector<unsigned>& cpus, std::uint64_t now_ns) {
    const Result<UniqueFd> cgroup = koord::open_directory(meter.directory());
    Result<CgroupCounters> counters = cgroup ? CgroupCounters::open(cgroup->get(), setup_->events.events, cpus)
                                             : Result<CgroupCounters>(cgroup.error());
    if (counters) {
      meter.begin(now_ns, std::move(*counters));
      return true;
    }
    const koord::Error& error = counters.error();
    // The cgroup does not exist yet or any more. The next tick tries again.
    if (error.is(std::errc::no_such_file_or_directory)) {
      meter.miss_cgroup();
      return true;
    }
    drop_incomplete(meter, error);
    if (error.is(std::errc::too_many_files_open) || error.is(std::errc::too_many_files_open_in_system)) return false;
    meter.begin(now_ns, std::nullopt);
    return true;
  }

  void drop_incomplete(const ContainerMeter& meter, const koord::Error& error) {
    dropped_.count(Dropped::incomplete);
    failure_ = Failure(KOORD_E_IO, "counters of '" + meter.directory() + "': " + error.message());
  }

  void report_itself(std::uint64_t now_ns) {
    std::uint64_t waited_ns = 0;
    std::size_t missing = 0, there = 0;
    for_each_container([&](const ContainerMeter& meter) {
      if (meter.has_cgroup()) waited_ns = std::max(waited_ns, meter.waited_ns(now_ns));
      ++(meter.has_cgroup() ? there : missing);
    });
    // For example on a hybrid node with containers only in v1 hierarchies, none of which has perf_event.
    if (missing > 0 && there == 0)
      report_capability(kCounters, KOORD_CAPABILITY_ABSENT, "no container has a cgroup in '" + tree_ + "'");
    batch_.add(round_, static_cast<double>(waited_ns) / 1e9);
    dropped_.report(batch_);
  }

  void report_capability(std::string_view name, std::uint32_t state, std::string_view why) {
    capabilities_->report(host(), koord::plugin::str(name), state, koord::plugin::str(why));
  }

  static constexpr std::string_view kCounters = "performance_counters";

  const koord_svc_state* state_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  koord::plugin::Files files_;
  std::string tree_;
  std::optional<Setup> setup_;
  std::optional<ContainerMetrics> metrics_;
  koord::plugin::Subjects<Meter> subjects_;
  Dropped dropped_;
  std::uint64_t round_ = 0;
  std::optional<Failure> failure_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-performance\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=CPICollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1,koord.capabilities/1\nlicense=Apache-2.0\n"
    "description=Cycles per instruction and cache misses of containers, from hardware counters\n",
    koord::plugin::advisor<Performance>("performance", kWindow, kConfigSchema))
