// SPDX-License-Identifier: Apache-2.0
// Exec: a program, such as kubectl, that this process communicates with through the program's standard input and
// output. [any thread, one at a time]
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::ui {

// The limits of a call.
struct Patience {
  std::chrono::steady_clock::time_point deadline;  // after it, the call fails with timed_out
  int cancel_fd = -1;                              // fails with operation_canceled when this is readable; -1: never
};

class Exec {
 public:
  // Receives output of the program; "": it has ended. Returns whether the output is complete.
  using OnOutput = std::function<Result<bool>(std::string_view)>;

  // Starts a program. `words`: the program, searched in PATH if it has no '/', and its arguments. The program gets the
  // environment of this process and its own process group, so Ctrl-C reaches only this process.
  static Result<std::unique_ptr<Exec>> start(const std::vector<std::string>& words);
  // Kills the program's process group.
  ~Exec();
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  // Writes `bytes` and passes output to `on_output` until it returns true.
  Result<void> exchange(std::string_view bytes, const Patience& patience, const OnOutput& on_output);

  // Returns whether the program runs and all its output has been passed on.
  bool is_silent() const;

  // Returns the exit status of a program that has ended; 128 or more for a signal, like a shell. Kills the program if
  // it does not end soon.
  int exit_status();

  // Returns the last lines of its standard error, joined into one line; "" if none.
  std::string complaints();

 private:
  Exec(pid_t pid, UniqueFd pidfd, UniqueFd pipe, UniqueFd errors);

  bool read_errors();
  bool has_ended_within(Duration time);

  const pid_t pid_;
  const UniqueFd pidfd_;  // readable when it has ended
  const UniqueFd pipe_;   // its standard input and output
  UniqueFd errors_;       // its standard error; empty after it was closed
  std::string complaints_;
  int status_ = -1;  // the result of waitpid(); -1: still unknown
};

}  // namespace koord::ui
