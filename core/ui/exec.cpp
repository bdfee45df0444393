// SPDX-License-Identifier: Apache-2.0
#include "core/ui/exec.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/pidfd.hpp"
#include "core/base/spawn_plan.hpp"
#include "core/base/utf8.hpp"

namespace koord::ui {
namespace {

constexpr std::size_t kBlock = 64 << 10;
constexpr std::size_t kKeptComplaints = 1 << 10;
constexpr unsigned kMostReads = 64;
constexpr Duration kEndPatience = std::chrono::seconds(2);

// Starts the program. Returns 0 or an errno.
int spawn(const SpawnPlan& plan, std::vector<std::string> words, pid_t& pid) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return ::posix_spawnp(&pid, arguments[0], plan.files(), plan.attributes(), arguments.data(), environ);
}

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

}  // namespace

Exec::Exec(pid_t pid, UniqueFd pidfd, UniqueFd pipe, UniqueFd errors)
    : pid_(pid), pidfd_(std::move(pidfd)), pipe_(std::move(pipe)), errors_(std::move(errors)) {}

Result<std::unique_ptr<Exec>> Exec::start(const std::vector<std::string>& words) {
  std::array<int, 2> ends{-1, -1}, errors{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_error(errno, "socket pair for a program");
  UniqueFd ours(ends[0]), its(ends[1]);
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) return system_error(errno, "pipe for a program");
  UniqueFd our_errors(errors[0]), its_errors(errors[1]);
  for (const UniqueFd* fd : {&ours, &our_errors}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);

  SpawnPlan plan(STDERR_FILENO);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO}) TRY(plan.give(its.get(), number));
  TRY(plan.give(its_errors.get(), STDERR_FILENO));
  pid_t pid = -1;
  if (const int error = spawn(plan, words, pid)) return system_error(error, "cannot run '" + words[0] + "'");
  UniqueFd pidfd = open_pidfd(pid);
  if (!pidfd) {
    const int error = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return system_error(error, "pidfd of '" + words[0] + "'");
  }
  return std::unique_ptr<Exec>(new Exec(pid, std::move(pidfd), std::move(ours), std::move(our_errors)));
}

Exec::~Exec() {
  if (status_ != -1) return;
  ::kill(-pid_, SIGKILL);
  (void)has_ended_within(kEndPatience);
}

Result<void> Exec::exchange(std::string_view bytes, const Patience& patience, const OnOutput& on_output) {
  std::array<char, kBlock> block;
  for (;;) {
    std::array<pollfd, 3> ready{
        pollfd{pipe_.get(), static_cast<short>(bytes.empty() ? POLLIN : POLLIN | POLLOUT), 0},
        pollfd{errors_.get(), POLLIN, 0},
        pollfd{patience.cancel_fd, POLLIN, 0},
    };
    const int left_ms = milliseconds_until(patience.deadline);
    if (left_ms == 0) return system_error(ETIMEDOUT, "no answer");
    if (::poll(ready.data(), ready.size(), left_ms) < 0 && errno != EINTR) return system_error(errno, "poll");
    if (ready[2].revents != 0) return system_error(ECANCELED, "no answer");
    if (ready[1].revents != 0 && !read_errors()) errors_.reset();
    if ((ready[0].revents & POLLOUT) != 0) {
      const ssize_t n = ::send(pipe_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      if (n < 0 && errno != EAGAIN && errno != EINTR) bytes = {};  // the program may still have written its output
    }
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t n = ::recv(pipe_.get(), block.data(), block.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    const bool enough = TRY(on_output({block.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))}));
    if (enough || n <= 0) return {};
  }
}

bool Exec::is_silent() const {
  pollfd ready{pipe_.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) == 0;
}

// Returns false at the end of the output.
bool Exec::read_errors() {
  std::array<char, 4096> block;
  const ssize_t n = ::read(errors_.get(), block.data(), block.size());
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  complaints_.append(block.data(), static_cast<std::size_t>(n));
  if (complaints_.size() > kKeptComplaints) complaints_.erase(0, complaints_.size() - kKeptComplaints);
  return n > 0;
}

std::string Exec::complaints() {
  pollfd ready{errors_.get(), POLLIN, 0};
  // Limits the reads, because some programs write to standard error without end.
  for (unsigned reads = 0; reads < kMostReads && errors_ && ::poll(&ready, 1, 0) > 0 && read_errors();) ++reads;
  std::vector<std::string> lines;
  for (const std::string& line : split(complaints_, '\n'))
    if (const std::string_view text = trim(line); !text.empty()) lines.emplace_back(text);
  std::string text = join(lines, "; ");
  replace_control_characters(text);
  return text;
}

// Returns whether the program ends within this time. Its id and its group's id remain reserved until waitpid().
bool Exec::has_ended_within(Duration time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  pollfd end{pidfd_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&end, 1, milliseconds_until(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  ::kill(-pid_, SIGKILL);
  if (::waitpid(pid_, &status_, 0) != pid_) status_ = 0;  // a different part of this process called waitpid() for it
  return true;
}

int Exec::exit_status() {
  if (status_ == -1 && !has_ended_within(kEndPatience)) {
    ::kill(-pid_, SIGKILL);
    (void)has_ended_within(kEndPatience);
  }
  if (status_ == -1 || WIFSIGNALED(status_)) return 128 + (status_ == -1 ? SIGKILL : WTERMSIG(status_));
  return WEXITSTATUS(status_);
}

}  // namespace koord::ui
