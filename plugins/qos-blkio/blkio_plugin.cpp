// SPDX-License-Identifier: Apache-2.0
// qos-blkio: sets limits and weights of block I/O for QoS classes, pods and the whole node.
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/problem_tracker.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/qos-blkio/blkio.hpp"
#include "plugins/qos-blkio/sysfs_devices.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/pod_places.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Snapshot;
using koord::plugin::Strided;

constexpr char kConfigSchema[] = R"({"type": "object", "additionalProperties": false, "properties": {}})";

constexpr std::chrono::nanoseconds kPeriod = 5s, kHoldsFor = 30s;
constexpr std::chrono::nanoseconds kRecheck = 60s;  // period of reading the devices
constexpr const char* kStorageFact = "advisor-node-storage/node_local_storage_info";
constexpr const char* kVolumesFact = "host/pod_volumes";

class Blkio final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    knobs_ = koord::plugin::require<koord_svc_knobs>(host(), "koord.knobs/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    kv_ = koord::plugin::require<koord_svc_kv>(host(), "koord.kv/1");
    roots_ = koord::node::roots_of(host());
    std::uint32_t controller = KOORD_CAPABILITY_SUPPORTED;
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    const bool is_known = capabilities->get(host(), koord::plugin::str("blkio_cgroup"), &controller) == KOORD_OK;
    if (is_known && controller != KOORD_CAPABILITY_SUPPORTED)
      throw koord::plugin::Failure(KOORD_E_UNSUPPORTED,
                                   "this node has no controller of block I/O (io, or blkio on cgroup v1)");
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    now_ns_ = now_ns;
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    koord::slo::Problems problems = snapshot ? slo_.follow(*snapshot) : koord::slo::Problems{};
    if (const std::string line = snapshot ? slo_.new_line(now_ns) : ""; !line.empty()) log(KOORD_LOG_INFO, line);
    if (!snapshot || !slo_.get()) return koord::strategy::propose(host(), knobs_, {}, kHoldsFor);
    follow(*snapshot);
    problems.insert(problems.end(), plan_.problems.begin(), plan_.problems.end());
    log_problems(problems);
    koord::strategy::propose(host(), knobs_, plan_.intents, kHoldsFor);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_WARN, line);
  }

 private:
  void log_problems(const koord::slo::Problems& problems) {
    for (const std::string& problem : problems_.begun(problems)) log(KOORD_LOG_WARN, problem);
  }

  // The inputs that the plan was made from.
  struct Basis {
    std::uint64_t pods = 0, slo = 0, devices = 0;
    std::vector<std::string> missing;
    bool operator==(const Basis&) const = default;
  };

  void follow(const Snapshot& snapshot) {
    follow_devices();
    Basis basis{snapshot.version(KOORD_ON_PODS), snapshot.version(KOORD_ON_NODE_SLO), devices_version_,
                missing_.names(now_ns_)};
    if (basis == basis_) return;
    basis_ = std::move(basis);
    koord::slo::Problems problems = device_problems_;
    plan_ = koord::blkio::plan(inputs(snapshot, problems));
    plan_.problems.insert(plan_.problems.begin(), problems.begin(), problems.end());
  }

  koord::blkio::Inputs inputs(const Snapshot& snapshot, koord::slo::Problems& problems) const {
    koord::blkio::Inputs inputs;
    if (slo_.get()->resource_qos) inputs.strategy = &*slo_.get()->resource_qos;
    for (const koord::cgroup::KubeRoot& root : koord::kube::kube_roots(koord::kube::places_of(snapshot.pods()))) {
      inputs.best_effort_dirs.push_back(qos_dir(root, koord::cgroup::KubeQos::best_effort));
      inputs.burstable_dirs.push_back(qos_dir(root, koord::cgroup::KubeQos::burstable));
    }
    for (const koord_pod& pod : snapshot.pods()) add_pod(pod, inputs, problems);
    inputs.known = &known_;
    inputs.missing_knobs.insert(basis_.missing.begin(), basis_.missing.end());
    return inputs;
  }

  static void add_pod(const koord_pod& pod, koord::blkio::Inputs& inputs, koord::slo::Problems& problems) {
    if (pod.phase != KOORD_PHASE_RUNNING || pod.cgroup_dir.n == 0) return;
    const auto annotation = koord::slo::annotation_of(pod, koord::slo::kBlkioQosAnnotation);
    if (!annotation) return;
    const std::string name =
        std::string(koord::plugin::view(pod.ns)) + "/" + std::string(koord::plugin::view(pod.name));
    koord::slo::Problems wrong;
    auto blocks = koord::slo::blocks_of(annotation, wrong);
    for (const std::string& problem : wrong) problems.push_back("pod " + name + ": " + problem);
    if (blocks)
      inputs.pods.push_back({std::string(koord::plugin::view(pod.uid)), name,
                             std::string(koord::plugin::view(pod.cgroup_dir)), *std::move(blocks)});
  }

  // Reads the facts. A missing or unreadable fact is unknown, and is reported if a block needs it.
  void follow_devices() {
    const bool new_storage = take(kStorageFact, storage_text_), new_volumes = take(kVolumesFact, volumes_text_);
    const bool rechecks = now_ns_ >= recheck_at_ns_;
    if (new_storage || new_volumes) {
      device_problems_.clear();
      if (!storage_text_.empty())
        known_.storage =
            parsed<std::optional<koord::blkio::Storage>>(koord::blkio::parse_storage(storage_text_), kStorageFact);
      if (!volumes_text_.empty())
        known_.pod_volumes =
            parsed<koord::blkio::PodVolumes>(koord::blkio::parse_pod_volumes(volumes_text_), kVolumesFact);
    }
    if (rechecks) {
      recheck_at_ns_ = now_ns_ + static_cast<std::uint64_t>(kRecheck.count());
      known_.number_of_name = koord::blkio::sysfs_devices(roots_.sys);
    }
    if (new_storage || new_volumes || rechecks) ++devices_version_;
  }

  // Returns whether the fact has changed.
  bool take(const char* key, std::string& text) {
    bool found = true;
    std::string now = koord::plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      const koord_status status = kv_->get(host(), koord::plugin::str(key), buf, cap, need);
      found = status != KOORD_E_NOT_FOUND;
      if (!found) *need = 0;
      return found ? status : KOORD_OK;
    });
    if (!found || now == text) return false;
    text = std::move(now);
    return true;
  }

  template <class Known, class T>
  Known parsed(koord::Result<T> result, const std::string& key) {
    if (result) return *std::move(result);
    device_problems_.push_back("'" + key + "': " + result.error().message());
    return {};
  }

  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_kv* kv_ = nullptr;
  koord::NodeRoots roots_;
  koord::strategy::SloOfNode slo_;
  koord::strategy::Refusals refusals_;
  koord::strategy::MissingKnobs missing_;
  koord::blkio::Known known_;
  std::string storage_text_, volumes_text_;
  koord::slo::Problems device_problems_;
  std::uint64_t devices_version_ = 0;
  Basis basis_;
  koord::blkio::Plan plan_;
  koord::ProblemTracker problems_;
  std::uint64_t now_ns_ = 0, recheck_at_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-blkio\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=BlkIOReconcile\nstage=alpha\ndefault=false\n"
             "requires=koord.knobs/1,koord.state/1,koord.kv/1,koord.fs/1,koord.capabilities/1\nlicense=Apache-2.0\n"
             "description=Limits and weights of block I/O for QoS classes, pods and devices\n",
             koord::plugin::qos_strategy<Blkio>("blkio", kPeriod, kConfigSchema))
