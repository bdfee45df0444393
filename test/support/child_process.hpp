// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a real process of the test. It is killed and reaped with the object. Its output goes to a file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "test/support/eventually.hpp"

namespace koord::test {

class ChildProcess {
 public:
  // Runs a program. Its stdout and stderr go to `output_path`; if that is empty, to the test's stdout and stderr.
  ChildProcess(const std::vector<std::string>& command, const std::string& output_path = {});
  // Runs a function in a forked copy of the test, which then exits with status 0. Fork before the test starts threads.
  explicit ChildProcess(const std::function<void()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  // Returns the wait status if the process ends within this time.
  std::optional<int> wait(std::chrono::milliseconds timeout);

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct Finished {
  int exit_status = -1;  // -1: ended by a signal
  std::string output;
};

// Runs a program to its end and returns what it printed on stdout and stderr.
Finished run_to_end(const std::vector<std::string>& command,
                    std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace koord::test
