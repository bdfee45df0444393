// SPDX-License-Identifier: Apache-2.0
// Driver: opens an Nvml without hanging. Each attempt is made in a child first, and repeated after a while if it
// failed. Reports its state. On the instance's strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "plugins/advisor-gpu/child_trial.hpp"
#include "plugins/advisor-gpu/nvml.hpp"

namespace koord::gpu {

class Driver {
 public:
  static constexpr std::uint64_t kRetryNs = 60'000'000'000;

  enum class State {
    trying,  // an attempt is running, or none was made yet
    open,
    missing,  // no library, or no driver for it
    broken,   // it exists but does not work or does not respond
    released,
  };

  struct Settings {
    std::string library = "libnvidia-ml.so.1";
    std::chrono::milliseconds patience{5000};
    bool release = false;

    bool operator==(const Settings&) const = default;
  };

  // Closes the driver and applies the settings. The next poll() opens it again, unless `release` is set.
  void configure(Settings settings);
  // Closes the driver and ends a running attempt. Does not change state().
  void release_all();

  // Starts an attempt when it is due. Then waits at most `wait` for the result of the attempt.
  void poll(std::uint64_t now_ns, std::chrono::milliseconds wait = {});
  // Reports that the open driver does not work any more.
  void lose(const Error& error, std::uint64_t now_ns);

  Nvml* nvml() const { return nvml_.get(); }
  State state() const { return state_; }
  const std::string& why() const { return why_; }
  std::chrono::milliseconds patience() const { return settings_.patience; }

 private:
  bool attempt(std::uint64_t now_ns);
  void judge(const Result<void>& outcome);
  void fail(const Error& error);

  Settings settings_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<ChildTrial> trial_;
  bool hangs_ = false;
  State state_ = State::trying;
  std::string why_;
  std::uint64_t next_attempt_ns_ = 0;
};

}  // namespace koord::gpu
