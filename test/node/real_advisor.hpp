// SPDX-License-Identifier: Apache-2.0
// RealAdvisor: an advisor's shared object with the host's real services, on this machine and its cgroups. The first
// argument of the program is the shared object. real_advisor.cpp has the main function, which skips if no cgroups can
// be made or why_not() returns a reason.
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>

#include "test/support/eventually.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/real_cgroup.hpp"

// Returns nullopt if this machine has the features to measure. Each test defines this function.
std::optional<std::string> why_not();

namespace koord::test {

const std::string& shared_object();

class RealAdvisor {
 public:
  // Measures these cgroups as containers outside of pods, named after their directories.
  RealAdvisor(std::initializer_list<const RealCgroup*> cgroups, std::string config_json = "{}");

  FakeHost& host() { return host_; }
  // Makes one collect() call, which must succeed. Host time advances like the machine's time.
  void tick();
  std::optional<double> value(const char* metric, const RealCgroup& cgroup, metric::Labels labels = {}) const;

 private:
  FakeHost host_;
  FakeInstance advisor_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Collects each half second until the condition holds.
template <class Condition>
bool collect_until(RealAdvisor& advisor, Condition&& condition,
                   std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  auto next = std::chrono::steady_clock::now();
  return eventually(
      [&] {
        if (std::chrono::steady_clock::now() < next) return false;
        next = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
        advisor.tick();
        return condition();
      },
      timeout);
}

}  // namespace koord::test
