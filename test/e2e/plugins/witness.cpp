// SPDX-License-Identifier: Apache-2.0
// A third-party plugin that reports the events of a cluster as metrics: how often each part of the state changed, and
// the few values that tests check.
#include <chrono>
#include <cstdlib>
#include <koordetector/plugin.hpp>
#include <string>
#include <string_view>

using namespace koord::plugin;

namespace {

// Returns the number after the first `"key":` in a JSON text; -1 without this key.
double number_in(std::string_view json, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\":";
  const std::size_t at = json.find(quoted);
  return at == std::string_view::npos ? -1
                                      : std::strtod(std::string(json.substr(at + quoted.size(), 24)).c_str(), nullptr);
}

double label_of(const koord_node* node, std::string_view key) {
  if (node)
    for (const koord_label& label : Strided<koord_label>(node->labels, node->n_labels, node->label_stride))
      if (view(label.key) == key) return std::strtod(std::string(view(label.value)).c_str(), nullptr);
  return -1;
}

double threshold_in(const Snapshot& snapshot) { return number_in(snapshot.node_slo(), "cpuSuppressThresholdPercent"); }

}  // namespace

class Witness : public Advisor {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    check(state_->subscribe(host(), KOORD_ON_NODE | KOORD_ON_PODS | KOORD_ON_NODE_SLO | KOORD_ON_TOPOLOGY),
          "subscribing");
    const Metric events = define({"witness_events", "events", "Reported changes of a part of the state.", 1});
    node_events_ = events.series(KOORD_NO_SUBJECT, {{"part", "node"}});
    pod_events_ = events.series(KOORD_NO_SUBJECT, {{"part", "pods"}});
    slo_events_ = events.series(KOORD_NO_SUBJECT, {{"part", "nodeSLO"}});
    event_threshold_ =
        define({"witness_event_threshold", "", "cpuSuppressThresholdPercent when on_event() reported it.", 1}).series();
    threshold_ = define({"witness_threshold", "", "cpuSuppressThresholdPercent of the NodeSLO.", 1}).series();
    rack_ = define({"witness_rack", "", "The node's label rack.", 1}).series();
    pods_ = define({"witness_pods", "pods", "Pods of the snapshot.", 1}).series();
  }

  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    node_ += (what & KOORD_ON_NODE) != 0;
    pods_changed_ += (what & KOORD_ON_PODS) != 0;
    if ((what & KOORD_ON_NODE_SLO) == 0) return;
    ++slo_;
    if (const auto snapshot = Snapshot::if_known(host(), state_)) reported_threshold_ = threshold_in(*snapshot);
  }

  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    Batch batch(host());
    batch.add(node_events_, node_);
    batch.add(pod_events_, pods_changed_);
    batch.add(slo_events_, slo_);
    batch.add(event_threshold_, reported_threshold_);
    if (const auto snapshot = Snapshot::if_known(host(), state_)) {
      batch.add(threshold_, threshold_in(*snapshot));
      batch.add(rack_, label_of(snapshot->node(), "rack"));
      batch.add(pods_, snapshot->version(KOORD_ON_PODS) == 0 ? -1 : snapshot->pods().size());
    }
    batch.send(now_ns);
  }

 private:
  const koord_svc_state* state_ = nullptr;
  std::uint64_t node_events_ = 0, pod_events_ = 0, slo_events_ = 0, event_threshold_ = 0, threshold_ = 0, rack_ = 0,
                pods_ = 0;
  double node_ = 0, pods_changed_ = 0, slo_ = 0, reported_threshold_ = -1;
};

KOORD_PLUGIN(
    "id=com.example.witness\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Witness\nrequires=koord.metrics/1,koord.state/1\n",
    advisor<Witness>("witness", std::chrono::milliseconds(200)))
