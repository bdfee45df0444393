// SPDX-License-Identifier: Apache-2.0
// ChildTrial: tries something that may hang or crash in a forked child, and returns the result within a given time. The
// child has one thread and no descriptor of this process; it may use memory and the dynamic loader, which have locks
// that the C library resets in fork(), and nothing else that another thread may have locked. On one thread at a time.
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
  // Kills what still runs.
  ~ChildTrial();
  ChildTrial(const ChildTrial&) = delete;
  ChildTrial& operator=(const ChildTrial&) = delete;

  // Waits for `wait` at most, 0 not at all. Nothing: it still runs. An error of the child keeps whether it was
  // std::errc::no_such_file_or_directory; one that is not done in time is killed and std::errc::timed_out.
  std::optional<Result<void>> outcome(std::chrono::milliseconds wait);

  // A killed child that hangs in the kernel remains until the kernel releases it, so no second child is started.
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
