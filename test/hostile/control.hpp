// SPDX-License-Identifier: Apache-2.0
// Control: beats ten times a second beside the agent, as the bystander ticks, and needs as many switches between
// threads for a beat. It uses nothing of the agent. So its delays are those of the machine.
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
