// SPDX-License-Identifier: Apache-2.0
// EnforcedStrategy: a strategy's shared object with the host's real services. Its intents are written to this machine's
// kernel as by an agent in the mode `enforce`. The test advances the host's clock; the kernel's clock is the real one.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/knob/governor.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

class EnforcedStrategy {
 public:
  EnforcedStrategy(const std::string& shared_object, std::string plugin)
      : strategy_(host_, shared_object), plugin_(std::move(plugin)) {
    governor_.set_node_mode(koord::Mode::enforce);
    REQUIRE(strategy_.init() == KOORD_OK);
  }
  ~EnforcedStrategy() { governor_.stop(); }

  FakeHost& host() { return host_; }
  void round(std::chrono::nanoseconds after) {
    host_.clock().advance(after);
    results_.clear();
    REQUIRE(strategy_.evaluate() == KOORD_OK);
    governor_.take({plugin_, "test"}, host_.context().take_plan(),
                   [this](std::vector<knob::IntentResult> results) { results_ = std::move(results); });
    CHECK(strategy_.on_applied(results_) == KOORD_OK);
  }
  // Ends all proposals of the strategy.
  void stop() { governor_.stop(); }

  // Returns the result of the intent for this knob and cgroup in the last round; nullopt if there was no intent.
  std::optional<knob::IntentResult> result_of(std::string_view knob, const RealCgroup& cgroup) const {
    const auto found = std::find_if(results_.begin(), results_.end(), [&](const knob::IntentResult& r) {
      return r.knob == knob && r.cgroup_dir == cgroup.dir();
    });
    return found == results_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  SystemClock clock_;
  knob::MemoryOriginals originals_;
  knob::Governor governor_{clock_, *cgroup::Layout::detect(NodeRoots()), NodeRoots(), originals_};
  FakeHost host_{NodeRoots()};
  FakeInstance strategy_;
  std::string plugin_;
  std::vector<knob::IntentResult> results_;
};

// The main function of a test with an EnforcedStrategy. The first argument is the strategy's shared object, which is
// stored in `shared_object`. Skips if no cgroups can be made.
inline int run_with_strategy(int argc, char** argv, std::string& shared_object) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: no cgroups can be made here: %s\n", why->c_str());
    return kSkip;
  }
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PLUGIN.so [doctest's options]\n", argv[0]);
    return 2;
  }
  shared_object = argv[1];
  return doctest::Context(argc - 1, argv + 1).run();
}

}  // namespace koord::test
