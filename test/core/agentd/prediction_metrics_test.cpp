// SPDX-License-Identifier: Apache-2.0
#include "core/api/prediction_metrics.hpp"

#include <doctest/doctest.h>

#include "core/agentd/koordlet_names.hpp"
#include "core/base/manual_clock.hpp"
#include "core/predict/observation.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"

using namespace koord;
using namespace std::chrono_literals;

namespace {

// A node with 8 cores that uses 1 core, but not for pods.
struct Node {
  ManualClock clock;
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  state::Hub hub;
  predict::Prediction prediction{{{{12h, 24h}, 30min, 10}, {0s, 10}, 1min, 10min, ""}, *store, hub, clock};

  Node() {
    state::Node node;
    node.allocatable = {{"cpu", 8000}, {"memory", 1 << 30}};
    hub.publish({.node = node, .pods = std::vector<state::Pod>{}});
    REQUIRE(store->begin_series(1, {predict::kNodeCpu, "cores", 1e-4, {}}));
    REQUIRE(store->begin_series(2, {predict::kNodeMemory, "bytes", 1, {}}));
  }
  void pass_minutes(int count, double cores) {
    for (int i = 0; i < count; ++i) {
      clock.advance(1min);
      const store::Sample samples[] = {{1, cores}, {2, 1e6}};
      REQUIRE(store->append(clock.now(), samples));
      prediction.step();
    }
  }
  std::string ours() const {
    std::string text;
    api::write_prediction_metrics(text, prediction, "n1");
    return text;
  }
  std::string theirs() const {
    metric::Registry registry{"n1"};
    std::string text;
    agentd::write_koordlet_names(text, {registry, *hub.current(), "n1", 1, clock.now(), &prediction});
    return text;
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Node, "before the first training there are no predictions, and koordlet's status says so") {
  CHECK_FALSE(contains(ours(), "koordetector_predict_prod_reclaimable{node=\"n1\",predictor=\"minimum\""));
  CHECK(contains(ours(), "koordetector_predict_models{node=\"n1\"} 0\n"));
  CHECK(contains(theirs(),
                 "koordlet_node_resource_priority_reclaimable_status{node=\"n1\",priority=\"koord-prod\"} 1\n"));
  CHECK_FALSE(contains(theirs(), "predictor=\"minPredictor\""));
}

TEST_CASE_FIXTURE(Node, "each predictor has its values in cores and bytes, and a family has one HELP and TYPE") {
  pass_minutes(1, 1);
  const std::string text = ours();
  // The system uses 1.035 cores, and each of two classes uses 0.025. Each value is increased by a tenth and rounded
  // down.
  CHECK(contains(text, "koordetector_predict_prod_peak{node=\"n1\",predictor=\"priority\",resource=\"cpu\"} 1.192\n"));
  CHECK(contains(text,
                 "koordetector_predict_prod_reclaimable{node=\"n1\",predictor=\"minimum\",resource=\"memory\"} 0\n"));
  const std::string_view head = "# TYPE koordetector_predict_prod_peak gauge\n";
  CHECK(text.find(head) == text.rfind(head));
  CHECK(contains(
      theirs(),
      "koordlet_node_predicted_resource_peak{node=\"n1\",predictor=\"minPredictor\",resource=\"cpu\",unit=\"core\"} 1.192\n"));
  CHECK(contains(theirs(),
                 "koordlet_node_resource_priority_reclaimable_status{node=\"n1\",priority=\"koord-prod\"} 0\n"));
}

TEST_CASE_FIXTURE(Node, "coverage and ratio are shown as soon as a prediction can be compared with usage") {
  pass_minutes(60, 1);
  CHECK_FALSE(contains(ours(), "koordetector_predict_coverage"));
  pass_minutes(60, 1);
  CHECK(contains(ours(), "koordetector_predict_coverage{node=\"n1\",subject=\"node\",resource=\"cpu\"} 1\n"));
  CHECK_FALSE(contains(ours(), "koordetector_predict_peak_ratio"));
  pass_minutes(1, 1);
  CHECK(contains(ours(), "koordetector_predict_peak_ratio{node=\"n1\",subject=\"node\",resource=\"cpu\"} 1.138\n"));
}

TEST_CASE_FIXTURE(Node, "without a directory models are lost at a restart, and a gauge shows that") {
  pass_minutes(1, 1);
  CHECK(contains(ours(), "koordetector_predict_checkpoint_ok{node=\"n1\"} 0\n"));
}
