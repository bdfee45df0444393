// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/child_trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/parse.hpp"

namespace koord::gpu {
namespace {

constexpr std::size_t kMostText = 4096;
constexpr char kFine = '+', kMissing = '?', kFailed = '-';
// Maximum time in which a killed child ends, unless it is stuck in the kernel.
constexpr std::chrono::milliseconds kEndsWithin{500};

// Removes the agent's signal handlers, sockets and file locks from the child.
void forget_the_parent(int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const auto own = static_cast<unsigned>(report);
  if (own > 3) ::close_range(3, own - 1, 0);
  ::close_range(own + 1, ~0u, 0);
}

[[noreturn]] void be_the_child(const std::function<Result<void>()>& what, int report) noexcept {
  forget_the_parent(report);
  const Result<void> result = what();
  std::string text(1, kFine);
  if (!result) {
    const bool missing = result.error().is(std::errc::no_such_file_or_directory);
    text = missing ? kMissing + result.error().text : kFailed + result.error().message();
  }
  [[maybe_unused]] const ssize_t written = ::write(report, text.data(), std::min(text.size(), kMostText));
  ::_exit(0);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return std::string("signal ") + ::strsignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<ChildTrial>> ChildTrial::start(const std::function<Result<void>()>& what,
                                                      std::chrono::milliseconds patience) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, "cannot make a pipe");
  UniqueFd reading(ends[0]), writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error(errno, "cannot fork");
  if (child == 0) be_the_child(what, writing.get());
  return std::unique_ptr<ChildTrial>(new ChildTrial(child, std::move(reading), patience));
}

ChildTrial::~ChildTrial() {
  if (child_is_gone()) return;
  ::kill(child_, SIGKILL);
  if (read_report(Clock::now() + kEndsWithin)) child_is_gone();
}

// Reads until the child closes its end of the pipe, which it does only when it ends.
bool ChildTrial::read_report(Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{report_.get(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char buffer[kMostText];
    const ssize_t n = ::read(report_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text_.append(buffer, static_cast<std::size_t>(n));
  }
}

std::optional<Result<void>> ChildTrial::outcome(std::chrono::milliseconds wait) {
  if (read_report(std::min(Clock::now() + wait, deadline_))) return judge();
  if (Clock::now() < deadline_) return std::nullopt;
  ::kill(child_, SIGKILL);
  return Result<void>(
      Error{std::make_error_code(std::errc::timed_out), "did not end within " + format_duration(patience_)});
}

Result<void> ChildTrial::judge() {
  // The child's end of the pipe is closed, so the child ends soon.
  if (!status_) {
    int status = 0;
    pid_t waited;
    do waited = ::waitpid(child_, &status, 0);
    while (waited < 0 && errno == EINTR);
    status_ = waited == child_ ? status : 0;
  }
  if (text_.starts_with(kFine)) return {};
  if (text_.starts_with(kMissing)) return not_found(text_.substr(1));
  if (text_.starts_with(kFailed)) return invalid(text_.substr(1));
  return invalid("the process that tried it ended by " + describe_end(*status_));
}

bool ChildTrial::child_is_gone() {
  if (status_) return true;
  int status = 0;
  const pid_t waited = ::waitpid(child_, &status, WNOHANG);
  if (waited == child_ || (waited < 0 && errno == ECHILD)) status_ = status;
  return status_.has_value();
}

}  // namespace koord::gpu
