// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::check {
namespace {

constexpr std::size_t kMaxReport = 4096;
constexpr off_t kMaxOutput = 256 * 1024;

// Shared with the child, which may crash at any time.
struct Notes {
  char call[64];
  char circumstance[192];
};

template <std::size_t N>
std::string text_of(const char (&note)[N]) {
  return {note, ::strnlen(note, N)};
}

template <std::size_t N>
void put(char (&note)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(note, text.data(), length);
  note[length] = '\0';
}

Notes* notes() {
  static Notes* const shared = [] {
    void* page = ::mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::runtime_error("cannot share a page with a child");
    return static_cast<Notes*>(page);
  }();
  return shared;
}

// Creates the file for the child's output, in memory of a fixed size, so the child's writes beyond it fail.
UniqueFd make_output() {
  UniqueFd output(::memfd_create("koord-trial-output", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (output.get() >= 0 && ::ftruncate(output.get(), kMaxOutput) == 0)
    ::fcntl(output.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
  return output;
}

std::string last_line(int output) {
  std::string text(static_cast<std::size_t>(kMaxOutput), '\0');
  const ssize_t n = ::pread(output, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  text.erase(std::min(text.size(), text.find('\0')));
  const std::string_view whole = trim(text);
  return std::string(whole.substr(whole.rfind('\n') + 1).substr(0, 200));
}

[[noreturn]] void be_the_child(const std::function<Outcome()>& body, int report, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  for (int signal = 1; signal < SIGRTMIN; ++signal) ::signal(signal, SIG_DFL);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  Outcome outcome;
  try {
    outcome = body();
  } catch (const std::exception& error) {
    outcome = Outcome::not_applicable(std::string("the trial could not be set up: ") + error.what());
  }
  const std::string text = static_cast<char>('0' + static_cast<int>(outcome.kind)) + outcome.detail;
  [[maybe_unused]] const ssize_t written = ::write(report, text.data(), std::min(text.size(), kMaxReport));
  ::_exit(0);
}

// Reads until the other end is closed; nullopt if the time limit ended first.
std::optional<std::string> read_report(int fd, Duration patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::string report;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{fd, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char buffer[kMaxReport];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    // One report is complete. A descendant of the child may keep the pipe open, so this does not wait for its end.
    if (n > 0) report.append(buffer, static_cast<std::size_t>(n));
    return report;
  }
}

std::string end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "exit(" + std::to_string(WEXITSTATUS(status)) + ")";
}

std::string where() {
  const std::string call = text_of(notes()->call), circumstance = text_of(notes()->circumstance);
  return (call.empty() ? " outside of every call" : " in " + call) + (circumstance.empty() ? "" : ", " + circumstance);
}

}  // namespace

void note_call(std::string_view what) noexcept { put(notes()->call, what); }
void note_circumstance(std::string_view what) noexcept { put(notes()->circumstance, what); }

Outcome try_apart(const std::function<Outcome()>& body, Duration patience) {
  note_call("");
  note_circumstance("");
  int ends[2];
  UniqueFd output = make_output();
  if (output.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no descriptors for a trial");
  UniqueFd reading(ends[0]), writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork for a trial");
  if (child == 0) be_the_child(body, writing.get(), output.get());
  ::setpgid(child, child);
  writing.reset();
  const std::optional<std::string> report = read_report(reading.get(), patience);
  if (!report) ::kill(child, SIGKILL);
  const std::string end = end_of(child);
  ::kill(-child, SIGKILL);  // also kills processes that the child started
  if (!report)
    return Outcome::failed("the trial did not end within " + format_duration(patience) + ", still" + where());
  if (!report->empty()) return {static_cast<Outcome::Kind>(std::clamp((*report)[0] - '0', 0, 2)), report->substr(1)};
  const std::string final_line = last_line(output.get());
  return Outcome::failed("the process ended by " + end + where() +
                         (final_line.empty() ? "" : "; its last words: " + final_line));
}

}  // namespace koord::check
