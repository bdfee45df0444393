// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/run_node.hpp"

#include <unistd.h>

#include <exception>
#include <thread>
#include <utility>

#include "core/base/manual_clock.hpp"
#include "core/workshop/node_tree.hpp"

namespace koord::workshop {
namespace {

std::string name_of_machine() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

class Machine : public RunNode {
 public:
  using RunNode::RunNode;
  const NodeRoots& roots() const override { return roots_; }
  const std::string& name() const override { return name_; }

 private:
  NodeRoots roots_;
  std::string name_ = name_of_machine();
};

class LiveNode final : public Machine {
 public:
  using Machine::Machine;
  const Clock& clock() const override { return clock_; }
  Result<void> pass(Duration time) override {
    std::this_thread::sleep_for(time);
    return {};
  }

 private:
  SystemClock clock_;
};

class HastyNode final : public Machine {
 public:
  using Machine::Machine;
  const Clock& clock() const override { return clock_; }
  Result<void> pass(Duration time) override {
    clock_.advance(time);
    return {};
  }

 private:
  ManualClock clock_{SystemClock().now().time_since_epoch().count()};
};

class ReplayedNode final : public RunNode {
 public:
  explicit ReplayedNode(Fixture fixture)
      : RunNode(fixture.state), fixture_(std::move(fixture)), clock_(fixture_.start_ns), roots_(tree_.roots()) {}

  const NodeRoots& roots() const override { return roots_; }
  const Clock& clock() const override { return clock_; }
  const std::string& name() const override { return fixture_.node_name; }
  bool is_here() const override { return false; }

  Result<void> pass(Duration time) override {
    clock_.advance(time);
    passed_ += time;
    return catch_up();
  }
  Result<void> catch_up() {
    try {
      for (; next_ < fixture_.frames.size() && fixture_.frames[next_].at <= passed_; ++next_)
        apply(fixture_.frames[next_], tree_);
      return {};
    } catch (const std::exception& error) {
      return invalid("frame " + std::to_string(next_) + " cannot be laid out: " + error.what());
    }
  }

 private:
  const Fixture fixture_;
  ManualClock clock_;
  NodeTree tree_;
  const NodeRoots roots_;
  Duration passed_{};
  std::size_t next_ = 0;
};

}  // namespace

Result<void> RunNode::refresh(state::Hub& hub) { return publish_state(state_, roots(), name(), hub); }

std::unique_ptr<RunNode> make_live_node(StateTexts state) { return std::make_unique<LiveNode>(std::move(state)); }

std::unique_ptr<RunNode> make_hasty_node(StateTexts state) { return std::make_unique<HastyNode>(std::move(state)); }

Result<std::unique_ptr<RunNode>> make_replayed_node(Fixture fixture) {
  auto node = std::make_unique<ReplayedNode>(std::move(fixture));
  TRY(node->catch_up());
  return std::unique_ptr<RunNode>(std::move(node));
}

}  // namespace koord::workshop
