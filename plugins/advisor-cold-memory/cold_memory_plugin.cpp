// SPDX-License-Identifier: Apache-2.0
// advisor-cold-memory: measures page cache that has not been accessed for minutes.
#include <algorithm>

#include "koordetector/plugin.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-cold-memory/cold_source.hpp"
#include "plugins/shared/memory/meminfo.hpp"
#include "plugins/shared/memory/memory_stat_file.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::cold_memory::ColdSource;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Files;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;
using koord::plugin::value_or_fail;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "coldAgeSeconds": {"type": "integer", "minimum": 10, "maximum": 86400, "description": "for how long cold memory was not touched; default: 300"}
  }})";

constexpr std::string_view kNoteKey = "switched_on", kCapability = "cold_memory_of_pods";
constexpr double kResolution = 4096;

struct Level {
  Metric cold, with_hot;
};

struct Meter {
  std::uint64_t cold, with_hot;
  koord::memory::MemoryStatFile stat = {};
};

class ColdMemory final : public koord::plugin::Advisor {
 public:
  ~ColdMemory() override { stop(); }

  void init() override {
    roots_ = koord::node::roots_of(host());
    kv_ = koord::plugin::require<koord_svc_kv>(host(), "koord.kv/1");
    clock_ = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    files_ = Files(host());
    batch_ = Batch(host());
    find_source();
    node_ = define_level("node", "the node");
    node_meter_.emplace(Meter{node_.cold.series(), node_.with_hot.series()});
    if (source_->knows_cgroups()) {
      pod_ = define_level("pod", "a pod");
      container_ = define_level("container", "a container or service");
    }
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    std::optional<Failure> failure;
    try {
      measure_node(now_ns);
    } catch (const Failure& failed) {
      failure = failed;
    }
    if (source_->knows_cgroups()) {
      if (auto snapshot = Snapshot::if_known(host(), state_))
        meters_.follow(*snapshot, [this](const Subject& subject) { return meter_of(subject); });
      const auto of_cgroups =
          meters_.for_each([&](Meter& meter, std::string_view dir) { measure(meter, dir, now_ns); });
      if (!failure) failure = of_cgroups;
    }
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

  void stop() override {
    if (!source_) return;
    // A running successor has taken over the kernel feature that is switched on, and will switch it off.
    if (note() == source_->note()) {
      source_->stop();
      keep("");
    } else {
      source_->leave();
    }
    source_.reset();
  }

 private:
  void find_source() {
    const std::chrono::seconds age(koord::plugin::Config(host()).i64("/coldAgeSeconds").value_or(300));
    const std::string before = note();
    const std::uint64_t now_ns = clock_->now_ns(host());
    auto kidled = koord::cold_memory::find_kidled(roots_, age, before, std::to_string(now_ns));
    auto found = kidled ? std::move(kidled) : koord::cold_memory::find_damon(roots_, age, before);
    if (!found) throw Failure(KOORD_E_UNSUPPORTED, kidled.error().text + "; " + found.error().message());
    if (const std::string text = (*found)->note(); !text.empty()) keep(text);
    if (auto started = (*found)->start(now_ns); !started) {
      (*found)->stop();
      keep("");
      throw Failure(KOORD_E_UNSUPPORTED,
                    std::string((*found)->name()) + " cannot be switched on: " + started.error().message());
    }
    source_ = *std::move(found);
    keep(source_->note());
    const bool knows_cgroups = source_->knows_cgroups();
    const std::string detail = knows_cgroups ? "kidled" : "DAMON measures only the node";
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    capabilities->report(host(), koord::plugin::str(kCapability),
                         knows_cgroups ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                         koord::plugin::str(detail));
  }

  std::string note() const {
    bool found = true;
    std::string text = koord::plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      const koord_status status = kv_->get(host(), koord::plugin::str(kNoteKey), buf, cap, need);
      found = status == KOORD_OK || status == KOORD_E_TOO_SMALL;
      return found ? status : KOORD_OK;
    });
    return found ? text : "";
  }
  void keep(const std::string& note) const {
    kv_->set(host(), koord::plugin::str(kNoteKey), note.data(), note.size(), 0);
  }

  Level define_level(const std::string& level, const std::string& owner) const {
    const std::string cold = "Page cache of " + owner + " not touched for the cold age, in bytes.";
    const std::string hot = "Memory of " + owner + " with page cache, without cold page cache, in bytes.";
    return {define({level + "_memory_cold_page_size", "bytes", cold, kResolution}),
            define({level + "_memory_with_hot_page_usage", "bytes", hot, kResolution})};
  }

  Meter meter_of(const Subject& subject) const {
    const Level& level = subject.is_pod() ? pod_ : container_;
    return {level.cold.series(subject.handle), level.with_hot.series(subject.handle)};
  }

  void measure_node(std::uint64_t now_ns) {
    const std::optional<double> cold = value_or_fail(source_->node(now_ns));
    if (!cold) return;
    batch_.add(node_meter_->cold, *cold);
    const double used =
        value_or_fail(koord::memory::used_with_page_cache_bytes(files_.read(KOORD_ROOT_PROC, "meminfo")));
    batch_.add(node_meter_->with_hot, std::max(used - *cold, 0.0));
  }

  void measure(Meter& meter, std::string_view dir, std::uint64_t now_ns) {
    const std::optional<double> cold = value_or_fail(source_->cgroup(dir));
    if (!cold) return;
    batch_.add(meter.cold, *cold);
    const auto stat = meter.stat.read_new(host(), cgroup_, dir, now_ns);
    const auto used = stat ? koord::memory::usage_with_page_cache_bytes(*stat) : std::nullopt;
    if (used) batch_.add(meter.with_hot, std::max(*used - *cold, 0.0));
  }

  koord::NodeRoots roots_;
  const koord_svc_kv* kv_ = nullptr;
  const koord_svc_clock* clock_ = nullptr;
  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  Files files_;
  std::unique_ptr<ColdSource> source_;
  Level node_, pod_, container_;
  std::optional<Meter> node_meter_;
  Subjects<Meter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-cold-memory\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=ColdPageCollector\nstage=alpha\ndefault=false\n"
    "requires=koord.metrics/1,koord.state/1,koord.cgroup/1,koord.fs/1,koord.kv/1,koord.clock/1,koord.config/1,koord.capabilities/1\n"
    "license=Apache-2.0\n"
    "description=Page cache that has not been touched for minutes, by kidled or DAMON\n",
    koord::plugin::advisor<ColdMemory>("cold-memory", 5s, kConfigSchema))
