// SPDX-License-Identifier: Apache-2.0
// Exec: a program that this process talks to through the program's standard input and output, such as kubectl.
// [any thread, one at a time]
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

// When a call gives up.
struct Patience {
  std::chrono::steady_clock::time_point deadline;  // timed_out
  int cancel_fd = -1;                              // operation_canceled as soon as it is readable; -1: never
};

class Exec {
 public:
  // Takes what the program has written; "": it has ended. Returns whether that was enough.
  using OnOutput = std::function<Result<bool>(std::string_view)>;

  // `words`: the program, looked up in PATH if it has no '/', and its arguments. It has the environment of this process
  // and a process group of its own: Ctrl-C is for this process alone.
  static Result<std::unique_ptr<Exec>> start(const std::vector<std::string>& words);
  // Kills the program's process group.
  ~Exec();
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  // Writes `bytes` and passes output on until `on_output` has enough.
  Result<void> exchange(std::string_view bytes, const Patience& patience, const OnOutput& on_output);

  // Whether it runs and has written nothing that exchange() has not passed on.
  bool is_silent() const;

  // Returns the exit status of a program that has ended, 128 and more for a signal, as a shell does. Kills it if it
  // does not end soon.
  int exit_status();

  // The last lines that it has written to its standard error, on one line. Empty: none.
  std::string complaints();

 private:
  Exec(pid_t pid, UniqueFd pidfd, UniqueFd pipe, UniqueFd errors);

  bool read_errors();
  bool has_ended_within(Duration time);

  const pid_t pid_;
  const UniqueFd pidfd_;  // readable when it has ended
  const UniqueFd pipe_;   // its standard input and output
  UniqueFd errors_;       // its standard error; none once it is closed
  std::string complaints_;
  int status_ = -1;  // as waitpid() says; -1: not known yet
};

}  // namespace koord::ui
