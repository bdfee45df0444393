// SPDX-License-Identifier: Apache-2.0
#include "core/load/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::load {
namespace {

constexpr std::size_t kMaxReport = 4096;
constexpr char kFine = '+';
constexpr char kRefused = '-';

void restore_signals() {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_DFL);
}

int report_fd = -1;  // used in the child

[[noreturn]] void report_and_exit(const std::string& text) {
  [[maybe_unused]] ssize_t written = ::write(report_fd, text.data(), std::min(text.size(), kMaxReport));
  ::_exit(0);
}

// Reports an exception of a constructor by std::terminate. dlopen() is declared not to throw, so a handler in its
// caller may not be reached.
[[noreturn]] void report_uncaught() {
  constexpr const char* kExpected = "-expected constructors that do not throw, found ";
  try {
    if (std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    report_and_exit(kExpected + ("the exception: " + std::string(error.what())));
  } catch (...) {
    report_and_exit(kExpected + std::string("an exception that is not a std::exception"));
  }
  std::abort();
}

// Closes all descriptors except the report's. They would keep the agent's locks and sockets if the agent is killed
// before this process ends.
void close_all_but_report() {
  constexpr int kReport = STDERR_FILENO + 1;
  if (report_fd != kReport) report_fd = ::dup2(report_fd, kReport);
  if (::close_range(kReport + 1, ~0U, 0) == 0) return;
  for (const std::string& name : list_directory("/proc/self/fd").value_or({}))  // before Linux 5.9
    if (const auto fd = parse_int(name); fd && *fd > kReport) ::close(static_cast<int>(*fd));
}

[[noreturn]] void be_the_child(const std::function<Result<void>()>& what, int report, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent has already ended
  restore_signals();                      // the handlers of the agent must not run in the child
  report_fd = report;
  close_all_but_report();
  std::set_terminate(report_uncaught);
  Result<void> result = what();
  report_and_exit(result ? std::string(1, kFine) : kRefused + result.error().message());
}

// Returns the child's output up to its end; nullopt: the time was over before.
std::optional<std::string> read_report(int fd, Duration patience) {
  auto end = std::chrono::steady_clock::now() + patience;
  std::string report;
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{fd, POLLIN, 0};
    int ready = left.count() > 0 ? ::poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char buffer[kMaxReport];
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return report;
    report.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string end_of(pid_t child) {
  int status = 0;
  pid_t waited;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited == child && WIFSIGNALED(status)) {
    return "by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  }
  return "with exit code " + std::to_string(waited == child ? WEXITSTATUS(status) : -1);
}

// With AddressSanitizer one child in ten hangs without a fault of its code, because fork() does not reset the locks of
// AddressSanitizer's memory.
#ifdef __has_feature  // clang has
constexpr bool kForkMayHang = __has_feature(address_sanitizer);
#else
constexpr bool kForkMayHang = false;
#endif

// Runs the child once. Returns nullopt if it did not end in time.
std::optional<Result<void>> try_once(const std::function<Result<void>()>& what, Duration patience) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Result<void>(system_error(errno, "cannot make a pipe"));
  UniqueFd reading(ends[0]), writing(ends[1]);
  const pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child < 0) return Result<void>(system_error(errno, "cannot fork"));
  if (child == 0) be_the_child(what, writing.get(), parent);
  writing.reset();
  std::optional<std::string> report = read_report(reading.get(), patience);
  if (!report) ::kill(child, SIGKILL);
  std::string end = end_of(child);
  if (!report) return std::nullopt;
  if (report->starts_with(kFine)) return Result<void>();
  if (report->starts_with(kRefused)) return Result<void>(invalid(report->substr(1)));
  return Result<void>(invalid("the trial ended " + end));
}

}  // namespace

Result<void> try_in_child(const std::function<Result<void>()>& what, Duration patience) {
  constexpr int kTries = kForkMayHang ? 8 : 1, kShare = kForkMayHang ? 4 : 1;
  for (int i = 0; i < kTries; ++i)
    if (const auto result = try_once(what, patience / kShare)) return *result;
  return invalid("the trial did not end within " + format_duration(patience));
}

}  // namespace koord::load
