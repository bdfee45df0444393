// SPDX-License-Identifier: Apache-2.0
// FakeGovernor: a governor on a fake cgroup v2 tree with the cgroup 'be', with a clock that the test advances.
// RuledGovernor: also records releases, and can set hands-off for a pod with the cgroup 'be'.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "test/core/knob/minute_intent.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

inline constexpr const char* kBefore = "50000 100000";

struct FakeGovernor {
  FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/be/cpu.max", "50000 100000\n"}};
  ManualClock clock;
  knob::MemoryOriginals originals;
  knob::Governor governor{clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals};
  std::map<std::string, std::vector<knob::IntentResult>> reported;  // all results by plugin

  std::string value() const { return std::string(trim(*read_file(node.path("cgroup/be/cpu.max")))); }

  static knob::Intent intent(std::string value, std::int32_t priority = 0, std::string dir = "be") {
    return minute_intent(decision::Level::qos, "cpu.max", std::move(dir), std::move(value), priority);
  }
  void propose(const std::string& plugin, knob::Plan plan) {
    governor.take({plugin, "main"}, std::move(plan), [this, plugin](std::vector<knob::IntentResult> results) {
      auto& list = reported[plugin];
      list.insert(list.end(), results.begin(), results.end());
    });
  }
  void enforce(const std::string& plugin) { governor.set_mode(plugin, koord::Mode::enforce); }
  decision::Outcome last_reported(const std::string& plugin) { return reported.at(plugin).back().outcome; }
  decision::Decision last() { return governor.decisions().back(); }
};

struct RuledGovernor : FakeGovernor {
  std::vector<knob::Release> released;

  RuledGovernor() {
    governor.on_release([this](std::vector<knob::Release> releases) {
      released.insert(released.end(), releases.begin(), releases.end());
    });
  }
  void mark(decision::HandsOff hands_off) {
    auto subjects = std::make_shared<knob::Subjects>();
    subjects->add("be", {"u-1", "shop", "nightly", {}, std::move(hands_off)});
    governor.set_subjects(std::move(subjects));
  }
};

}  // namespace koord::test
