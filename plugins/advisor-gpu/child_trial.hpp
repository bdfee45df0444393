// SPDX-License-Identifier: Apache-2.0
// ChildTrial: executes an operation that may hang or crash in a forked child, and returns the result within a given
// time. The child has one thread and no descriptor of this process. It may use memory allocation and the dynamic
// loader, because the C library resets their locks in fork(), but nothing else that a different thread may have locked.
// Used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::gpu {

class ChildTrial {
 public:
  using Clock = std::chrono::steady_clock;

  static Result<std::unique_ptr<ChildTrial>> start(const std::function<Result<void>()>& what,
                                                   std::chrono::milliseconds patience);
  // Kills a running child.
  ~ChildTrial();
  ChildTrial(const ChildTrial&) = delete;
  ChildTrial& operator=(const ChildTrial&) = delete;

  // Waits at most `wait`; 0: does not wait. Returns nullopt while the child runs. If the child's error is
  // std::errc::no_such_file_or_directory, this code is kept. A child that does not end in time is killed, and the error
  // is std::errc::timed_out.
  std::optional<Result<void>> outcome(std::chrono::milliseconds wait);

  // Returns whether the child has ended. A killed child that hangs in the kernel remains until the kernel releases it;
  // no second child is started before that.
  bool child_is_gone();

 private:
  ChildTrial(pid_t child, UniqueFd report, std::chrono::milliseconds patience)
      : child_(child), report_(std::move(report)), patience_(patience), deadline_(Clock::now() + patience) {}

  bool read_report(Clock::time_point until);
  Result<void> judge();

  pid_t child_;
  UniqueFd report_;
  std::chrono::milliseconds patience_;
  Clock::time_point deadline_;
  std::string text_;
  std::optional<int> status_;
};

}  // namespace koord::gpu
