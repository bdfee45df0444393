// SPDX-License-Identifier: Apache-2.0
// A third-party strategy that requests the release of the configured amount of batch CPU, with all pods in their order
// as candidates: {"amount": 1000}
#include <chrono>
#include <koordetector/plugin.hpp>
#include <string>
#include <vector>

using namespace koord::plugin;

class Releaser : public QosStrategy {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    evict_ = require<koord_svc_evict>(host(), "koord.evict/1");
    check(require<koord_svc_config>(host(), "koord.config/1")->i64(host(), str("/amount"), &amount_),
          "reading the configuration");
  }

  void evaluate(std::uint64_t /*now_ns*/, std::uint64_t /*deadline_ns*/) override {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == 0) return;
    std::vector<std::uint64_t> pods;
    for (const koord_pod& pod : snapshot->pods()) pods.push_back(pod.handle);
    if (pods.empty()) return;
    const koord_label feature = {str("feature"), str("BECPUEvict")};
    koord_eviction eviction{};
    eviction.struct_size = sizeof eviction;
    eviction.pods = pods.data();
    eviction.n_pods = static_cast<std::uint32_t>(pods.size());
    eviction.resource = str("kubernetes.io/batch-cpu.request");
    eviction.reason = str("best-effort pods get too little of what they asked for");
    eviction.amount = amount_;
    eviction.inputs = &feature;
    eviction.n_inputs = 1;
    eviction.input_stride = sizeof feature;
    check(evict_->request(host(), &eviction), "requesting");
  }

 private:
  const koord_svc_state* state_ = nullptr;
  const koord_svc_evict* evict_ = nullptr;
  std::int64_t amount_ = 0;
};

KOORD_PLUGIN("id=releaser\nversion=1.0.0\nkinds=koord.qos-strategy/1\ngate=Releaser\n"
             "requires=koord.state/1,koord.evict/1,koord.config/1\n",
             qos_strategy<Releaser>("releaser", std::chrono::milliseconds(100)))
