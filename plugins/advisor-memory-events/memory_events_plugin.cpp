// SPDX-License-Identifier: Apache-2.0
// advisor-memory-events: counts processes killed for lack of memory and limit hits, per container, pod and node.
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/parse.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-memory-events/cgroup_index.hpp"
#include "plugins/advisor-memory-events/kernel_log.hpp"
#include "plugins/advisor-memory-events/memory_meter.hpp"
#include "plugins/advisor-memory-events/oom_log.hpp"
#include "plugins/shared/sdk/if_known.hpp"

namespace {

using namespace std::chrono_literals;
using koord::memory_events::CgroupIndex;
using koord::memory_events::KernelLog;
using koord::memory_events::Kills;
using koord::memory_events::LevelMetrics;
using koord::memory_events::MemoryMeter;
using koord::memory_events::OomKill;
using koord::memory_events::OomLog;
using koord::memory_events::Owner;
using koord::plugin::Batch;
using koord::plugin::CgroupFile;
using koord::plugin::Failure;
using koord::plugin::Files;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "kernelLog": {"type": "string", "minLength": 1,
                  "description": "the kernel's log as records; default: /dev/kmsg"}
  }})";

constexpr std::string_view kWhat = "OOM kill";
// Maximum number of events in a tick. Further kills are counted without events.
constexpr std::size_t kMostEventsPerTick = 32;

class MemoryEvents final : public koord::plugin::Advisor {
 public:
  void init() override {
    files_ = Files(host());
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    audit_ = static_cast<const koord_svc_audit*>(host()->get_service(host(), "koord.audit/1"));
    batch_ = Batch(host());
    define_metrics();
    open_log();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    events_ = 0;
    std::optional<Failure> failure =
        meters_.for_each([&](MemoryMeter& meter, std::string_view dir) { meter.read(host(), cgroup_, dir, now_ns); });
    if (auto of_log = read_log()) failure = of_log;
    for (bool pods : {false, true})
      meters_.for_each([&](MemoryMeter& meter, std::string_view dir) {
        if (meter.is_pod() == pods) record_unexplained(meter.subject(), dir, meter.report(batch_));
      });
    if (auto of_node = count_on_node()) failure = of_node;
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  void define_metrics() {
    const auto kills = [this](const char* name, const char* help) {
      return define({name, "processes", help, 1, KOORD_COUNTER});
    };
    const auto events = [this](const char* name, const char* help) {
      return define({name, "events", help, 1, KOORD_COUNTER});
    };
    node_kills_ = kills("node_oom_kills_total", "Processes killed on the node for lack of memory.");
    pod_metrics_.oom_kills = kills("pod_oom_kills_total", "Processes of a pod killed for lack of memory.");
    container_metrics_ = {
        kills("container_oom_kills_total", "Processes of a container killed for lack of memory."),
        events("container_memory_limit_hits_total", "Times that a container's memory reached its limit."),
        events("container_memory_high_events_total", "Times that a container was throttled above memory.high.")};
  }

  void open_log() {
    const std::string path = koord::plugin::Config(host()).string("/kernelLog").value_or("/dev/kmsg");
    koord::Result<KernelLog> opened = KernelLog::open(path);
    const std::string detail = opened ? path : opened.error().message() + "; victims are unknown";
    if (opened)
      log_ = std::move(opened).value();
    else
      log(KOORD_LOG_INFO, detail);
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    capabilities->report(host(), koord::plugin::str("oom_log"),
                         log_ ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT, koord::plugin::str(detail));
  }

  // Reads the node and the log even while the pods are unknown.
  void follow_state() {
    std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return;
    if (meters_.follow(*snapshot, [this](const Subject& subject) { return meter_of(subject); })) index(*snapshot);
    followed_ = true;
  }

  MemoryMeter meter_of(const Subject& subject) {
    std::shared_ptr<Kills> pod;
    if (subject.pod) {
      std::shared_ptr<Kills>& known = pods_[subject.pod->handle];
      if (!known) known = std::make_shared<Kills>();
      pod = known;
    }
    return {subject.is_pod() ? pod_metrics_ : container_metrics_, subject, std::move(pod), !followed_};
  }

  // Includes terminated containers, because the log may still name them.
  void index(const Snapshot& snapshot) {
    std::erase_if(pods_, [](const auto& pod) { return pod.second.use_count() == 1; });
    index_.clear();
    for (const koord_pod& pod : snapshot.pods()) {
      index_.add_pod(koord::plugin::view(pod.cgroup_dir), pod.handle);
      for (const koord_container& container : koord::plugin::containers_of(pod))
        index_.add_container(koord::plugin::view(container.cgroup_dir), container.handle, pod.handle);
    }
    for (const koord_container& container : snapshot.containers())
      index_.add_container(koord::plugin::view(container.cgroup_dir), container.handle, 0);
  }

  // Reads the log after the counters, so it already has each counted kill.
  std::optional<Failure> read_log() {
    if (!log_) return std::nullopt;
    const koord::Result<void> read = log_->read([this](std::string_view line) {
      if (auto kill = oom_log_.feed(line)) count(*kill);
    });
    return read ? std::nullopt : std::optional(Failure(KOORD_E_IO, read.error().message()));
  }

  void count(const OomKill& kill) {
    const Owner owner = index_.find(kill.cgroup);
    if (MemoryMeter* container = owner.container ? meters_.find(owner.container) : nullptr)
      container->log(owner.below);
    else if (MemoryMeter* pod = owner.pod ? meters_.find(owner.pod) : nullptr)
      pod->log(owner.container != 0 || owner.below);
    record({owner.container, owner.pod}, koord::memory_events::describe(kill));
  }

  void record_unexplained(std::uint64_t subject, std::string_view dir, std::int64_t kills) {
    if (kills == 0) return;
    record({subject}, koord::memory_events::describe_unexplained(kills, now_in(dir, "memory.usage", "usage_bytes"),
                                                                 now_in(dir, "memory.limit", "limit_bytes")));
  }

  std::optional<std::int64_t> now_in(std::string_view dir, std::string_view file, std::string_view key) const {
    CgroupFile opened;
    std::int64_t value[1] = {KOORD_ABSENT};
    if (opened.open(host(), cgroup_, dir, file, {key}) != KOORD_OK || opened.read(value) != KOORD_OK)
      return std::nullopt;
    return koord::plugin::if_known(value[0]);
  }

  // Records the event for the first subject that exists, else for the node.
  void record(std::vector<std::uint64_t> subjects, const std::string& why) {
    if (++events_ > kMostEventsPerTick) return;
    if (!audit_) return log(KOORD_LOG_INFO, std::string(kWhat) + ": " + why);
    subjects.push_back(KOORD_NO_SUBJECT);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (subjects[i] == KOORD_NO_SUBJECT && i + 1 < subjects.size()) continue;
      if (audit_->record(host(), subjects[i], koord::plugin::str(kWhat), koord::plugin::str(why)) != KOORD_E_GONE)
        return;
    }
  }

  std::optional<Failure> count_on_node() {
    try {
      const std::string vmstat = files_.read(KOORD_ROOT_PROC, "vmstat");
      const std::optional<std::uint64_t> kills = koord::find_flat_key(vmstat, "oom_kill");  // since Linux 4.13
      if (!kills) return std::nullopt;
      if (node_series_ == 0) node_series_ = node_kills_.series();
      batch_.add(node_series_, static_cast<double>(*kills));
      return std::nullopt;
    } catch (const Failure& failure) {
      return failure;
    }
  }

  Files files_;
  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_audit* audit_ = nullptr;  // null if the host lacks it
  koord::plugin::Metric node_kills_;
  LevelMetrics pod_metrics_, container_metrics_;
  std::uint64_t node_series_ = 0;
  std::optional<KernelLog> log_;
  OomLog oom_log_;
  CgroupIndex index_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Kills>> pods_;
  Subjects<MemoryMeter> meters_;
  bool followed_ = false;
  std::size_t events_ = 0;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-memory-events\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=MemoryEventsCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1,koord.fs/1,koord.config/1,koord.capabilities/1\n"
             "optional=koord.audit/1\nlicense=Apache-2.0\n"
             "description=OOM kills and memory limits that were hit, per container, pod and node\n",
             koord::plugin::advisor<MemoryEvents>("memory-events", 5s, kConfigSchema))
