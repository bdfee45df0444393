// SPDX-License-Identifier: Apache-2.0
// EnforcedStrategy: a strategy's .so on the host's real services, with its intents written to this machine's kernel as
// by an agent in the mode `enforce`. The test advances times; the kernel's go on by themselves.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/knob/governor.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

class EnforcedStrategy {
 public:
  EnforcedStrategy(const std::string& shared_object, std::string plugin) : strategy_(host_, shared_object), plugin_(std::move(plugin)) {
    governor_.set_node_mode(knob::Mode::enforce);
    REQUIRE(strategy_.init() == KOORD_OK);
  }
  ~EnforcedStrategy() { governor_.stop(); }

  FakeHost& host() { return host_; }
  void round(std::chrono::nanoseconds after) {
    host_.clock().advance(after);
    told_.clear();
    REQUIRE(strategy_.evaluate() == KOORD_OK);
    governor_.take({plugin_, "test"}, host_.context().take_plan(), [this](std::vector<knob::IntentResult> told) { told_ = std::move(told); });
    CHECK(strategy_.on_applied(told_) == KOORD_OK);
  }
  // No strategy proposes anything any more.
  void stop() { governor_.stop(); }

  // The result of the intent for this knob of this cgroup in the last round; nothing: no intent.
  std::optional<knob::IntentResult> told(std::string_view knob, const RealCgroup& cgroup) const {
    const auto found = std::find_if(told_.begin(), told_.end(),
                                    [&](const knob::IntentResult& r) { return r.knob == knob && r.cgroup_dir == cgroup.dir(); });
    return found == told_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  SystemClock clock_;
  knob::MemoryOriginals originals_;
  knob::Governor governor_{clock_, *cgroup::Layout::detect(NodeRoots()), NodeRoots(), originals_};
  FakeHost host_{NodeRoots()};
  FakeInstance strategy_;
  std::string plugin_;
  std::vector<knob::IntentResult> told_;
};

}  // namespace koord::test
