// SPDX-License-Identifier: Apache-2.0
// Control: a reference measurement at the same time as the agent. It beats ten times per second, as the bystander
// ticks, and each beat needs as many thread switches as a tick. It uses no part of the agent, so its delays are caused
// by the machine.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace koord::hostile {

inline constexpr double kBeatPeriod = 0.1;  // s

class Control {
 public:
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  std::vector<double> beats() const;  // Unix times

 private:
  void beat();
  void echo();

  int ends_[2] = {-1, -1};
  std::atomic<bool> is_over_ = false;
  mutable std::mutex mutex_;
  std::vector<double> beats_;
  std::thread echo_, beat_;
};

}  // namespace koord::hostile
