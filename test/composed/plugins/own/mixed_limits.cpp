// SPDX-License-Identifier: Apache-2.0
// Sets for one container the parts of cpu.max that the project's own plugins set for containers of different classes:
//   LS: the base is the limit of batch-cpu, as hook-batch-resource gives it to BE; the cap is in the pod's annotation
//       koordetector.sh/test-cap, "18000 100000"
//   BE: a factor of 0.8, as hook-cpu-normalization gives to LS, and a factor of 2, as qos-cpu-burst gives
#include <chrono>
#include <koordetector/plugin.hpp>
#include <string>
#include <vector>

using namespace koord::plugin;

namespace {

constexpr std::chrono::seconds kHolds{60};

std::int64_t batch_limit_of(const koord_container& container) {
  for (const koord_resource& resource : Strided(container.resources, container.n_resources, container.resource_stride))
    if (view(resource.name) == "kubernetes.io/batch-cpu" && resource.limit != KOORD_ABSENT) return resource.limit;
  return 0;
}

std::int64_t batch_limit_of(const koord_pod& pod) {
  std::int64_t sum = 0;
  for (const koord_container& container : containers_of(pod)) sum += batch_limit_of(container);
  return sum;
}

std::string cap_of(const koord_pod& pod) {
  for (const koord_label& one : Strided(pod.annotations, pod.n_annotations, pod.label_stride))
    if (view(one.key) == "koordetector.sh/test-cap") return std::string(view(one.value));
  return {};
}

}  // namespace

struct Parts : RuntimeHook {
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (request.pod->qos == KOORD_QOS_BE) check(response.scale(&response, str("linux.cpu.quota"), 0.8), "scaling");
    const std::int64_t milli =
        request.container != nullptr ? batch_limit_of(*request.container) : batch_limit_of(*request.pod);
    if (request.pod->qos == KOORD_QOS_LS && milli > 0)
      check(response.set(&response, str("linux.cpu.quota"), str(std::to_string(milli * 100))), "setting");
  }
};

struct MoreParts : QosStrategy {
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = Knobs(host());
  }
  void evaluate(std::uint64_t, std::uint64_t) override {
    std::vector<Intent> intents;
    const Snapshot snapshot(host(), state_);
    for (const koord_pod& pod : snapshot.pods()) {
      for (const koord_container& container : containers_of(pod)) {
        const std::string dir(view(container.cgroup_dir));
        if (pod.qos == KOORD_QOS_BE) intents.push_back(part(dir, "2", KOORD_ROLE_SCALE));
        if (const std::string cap = cap_of(pod); !cap.empty()) intents.push_back(part(dir, cap, KOORD_ROLE_CAP));
      }
    }
    knobs_.propose(intents);
  }

 private:
  static Intent part(const std::string& dir, const std::string& value, std::uint32_t role) {
    Intent intent;
    intent.knob = "cpu.max";
    intent.cgroup_dir = dir;
    intent.value = value;
    intent.reason = "the test asks for it";
    intent.ttl = kHolds;
    intent.role = role;
    return intent;
  }

  const koord_svc_state* state_ = nullptr;
  Knobs knobs_;
};

KOORD_PLUGIN("id=mixed-limits\nversion=1.0.0\nkinds=koord.runtime-hook/1,koord.qos-strategy/1\ngate=MixedLimits\n"
             "requires=koord.state/1,koord.knobs/1\n",
             runtime_hook<Parts, KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER>("parts"),
             qos_strategy<MoreParts>("more-parts", std::chrono::seconds(1)))
