// SPDX-License-Identifier: Apache-2.0
// Tests the whole prediction with a metric cache and a directory.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/predict/checkpoint_file.hpp"
#include "core/predict/observation.hpp"
#include "core/predict/prediction.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"
#include "test/core/predict/folder.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;
using koord::test::Folder;
namespace fs = std::filesystem;

namespace {

// A node with one pod. The test appends usage minute by minute.
struct Node {
  Folder folder;
  std::string directory = folder.path / "predictions";
  ManualClock clock;
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  state::Hub hub;

  Node() {
    state::Node node;
    node.allocatable = {{"cpu", 8000}, {"memory", 8'000'000'000}};
    state::Pod pod;
    pod.uid = "a";
    pod.phase = state::Phase::running;
    pod.priority_class = state::PriorityClass::prod;
    pod.resources = {{"cpu", 4000, -1}, {"memory", 4'000'000'000, -1}};
    hub.publish({.node = node, .pods = std::vector{pod}});
    const store::Labels labels{{"pod_uid", "a"}};
    REQUIRE(store->begin_series(1, {kNodeCpu, "cores", 1e-4, {}}));
    REQUIRE(store->begin_series(2, {kNodeMemory, "bytes", 1, {}}));
    REQUIRE(store->begin_series(3, {kPodCpu, "cores", 1e-4, labels}));
    REQUIRE(store->begin_series(4, {kPodMemory, "bytes", 1, labels}));
  }
  Options options(std::string where) const {
    return {{{12h, 24h}, 30min, 10}, {0s, 10}, 1min, 10min, std::move(where)};
  }
  Prediction prediction() const { return {options(directory), *store, hub, clock}; }
  void pass_a_minute() {
    clock.advance(1min);
    const store::Sample samples[] = {{1, 1.5}, {2, 3e9}, {3, 1.0}, {4, 1e9}};
    REQUIRE(store->append(clock.now(), samples));
  }
};

std::string checkpoint_in(const std::string& directory) { return directory + "/" + kCheckpointName; }

}  // namespace

TEST_CASE("the resources that production could lend follow from the measurements") {
  Node node;
  Prediction prediction = node.prediction();
  CHECK(prediction.prod().error().message() == "nothing was learnt of system yet");
  node.pass_a_minute();
  prediction.step();
  auto prod = prediction.prod();
  REQUIRE(prod);
  // 1 core is in the bucket that ends at 0.025 * (1.05^23 - 1) / 0.05 = 1.0357, 0.5 in the bucket that ends at 0.5394,
  // 0 in the bucket that ends at 0.025. With the margin these are 1138, 592 and 27 milli-cores.
  CHECK(prod->peak.cpu_milli == 1138 + 592 + 27);
  CHECK(prod->reclaimable.cpu_milli == 4000 - 1757);
  CHECK(prediction.status().models == 1 + 1 + 5 + 1);
  CHECK(prediction.status().training_problem.empty());
}

TEST_CASE("the first step after the start is saved, then one each checkpoint period") {
  Node node;
  Prediction prediction = node.prediction();
  node.pass_a_minute();
  prediction.step();
  const std::string first = *read_file(checkpoint_in(node.directory));
  for (int i = 0; i < 9; ++i, prediction.step()) node.pass_a_minute();
  CHECK(*read_file(checkpoint_in(node.directory)) == first);
  node.pass_a_minute();
  prediction.step();
  CHECK(*read_file(checkpoint_in(node.directory)) != first);
}

TEST_CASE("another run predicts the same before it has learnt anything") {
  Node node;
  Prediction before = node.prediction();
  for (int i = 0; i < 30; ++i, before.step()) node.pass_a_minute();
  before.save();
  Prediction after = node.prediction();
  CHECK(after.restore().empty());
  REQUIRE(after.prod());
  CHECK(after.prod()->reclaimable == before.prod()->reclaimable);
  CHECK(after.prod()->peak == before.prod()->peak);
}

TEST_CASE("the other records of a damaged checkpoint count, and the damaged one is reported") {
  Node node;
  Prediction before = node.prediction();
  node.pass_a_minute();
  before.step();
  std::string text = *read_file(checkpoint_in(node.directory));
  text[20] ^= 1;
  std::ofstream(checkpoint_in(node.directory)) << text;
  Prediction after = node.prediction();
  CHECK(after.restore() == std::vector<std::string>{"line 1: its checksum is wrong"});
  CHECK(after.status().models == before.status().models - 1);
}

TEST_CASE("without a directory it learns in memory and says so, and saves as soon as there is one") {
  Node node;
  node.directory = node.folder.path / "missing" / "predictions";
  Prediction prediction = node.prediction();
  CHECK(prediction.restore().empty());
  node.pass_a_minute();
  prediction.step();
  CHECK(prediction.prod());
  CHECK(prediction.status().checkpoint_problem.find("cannot make '" + node.directory + "'") == 0);
  fs::create_directories(node.directory);
  node.pass_a_minute();
  prediction.step();
  CHECK(prediction.status().checkpoint_problem.empty());
  CHECK(fs::exists(checkpoint_in(node.directory)));
}

TEST_CASE("a half-written file after a crash is overwritten") {
  Folder folder;
  std::ofstream(folder.path / "checkpoint.new") << std::string(1000, 'x');
  REQUIRE(save_checkpoint(folder.path, "new\n"));
  CHECK(*load_checkpoint(folder.path) == "new\n");
  CHECK(list_directory(folder.path)->size() == 1);
}

TEST_CASE("only its owner may read a checkpoint") {
  Folder folder;
  REQUIRE(save_checkpoint(folder.path / "made", "x"));
  struct stat info {};
  REQUIRE(::stat((folder.path / "made" / kCheckpointName).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("steps of the wall clock change nothing") {
  Node node;
  Prediction prediction = node.prediction();
  for (int i = 0; i < 30; ++i, prediction.step()) node.pass_a_minute();
  const ProdPrediction before = *prediction.prod();
  for (Duration step : {Duration(1h), Duration(-2h), Duration(24h * 365)}) {
    node.clock.step_wall(step);
    CHECK(prediction.prod()->reclaimable == before.reclaimable);
    node.pass_a_minute();
    prediction.step();
    CHECK(prediction.prod()->reclaimable == before.reclaimable);
  }
}
