// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/measured_child.hpp"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <string>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::workshop {
namespace {

struct Forked {
  pid_t pid;
  UniqueFd why;  // receives the work's error
};

// `prepare` runs first in the child.
Result<Forked> fork_to(const std::function<Result<void>()>& work, void (*prepare)()) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, "cannot make a pipe");
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::fflush(nullptr);
  pid_t pid = ::fork();
  if (pid < 0) return system_error(errno, "cannot fork");
  if (pid > 0) return Forked{pid, std::move(read_end)};
  prepare();
  int status = 0;
  std::string why;
  try {
    if (Result<void> done = work(); !done) why = done.error().message();
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!why.empty()) status = 1;
  if (::write(write_end.get(), why.data(), why.size()) < 0) status = 1;
  ::_exit(status);  // skips destructors of the parent's objects, which the child has copied
}

Result<void> outcome_of(const Forked& child, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status))
    return invalid(std::string("the plugin ended its process by ") + ::strsignal(WTERMSIG(status)));
  Result<std::string> why = read_all(child.why.get(), "the child's pipe");
  return invalid(why && !why->empty()
                     ? *why
                     : "the plugin ended its process with exit code " + std::to_string(WEXITSTATUS(status)));
}

void ask_to_be_traced() {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(125);
  ::raise(SIGSTOP);
}

constexpr long kFollowAll = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
constexpr int kSystemCall = SIGTRAP | 0x80;

// Runs `first` and all its descendants. Stops at each system call and counts them. Returns the status of `first`.
int follow(pid_t first, CountedCalls& counted) {
  std::set<pid_t> inside;  // threads in a system call; the next stop of each is the end of its call
  std::set<pid_t> known{first};
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid < 0) return status;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (pid == first) return status;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == kSystemCall) {
      if (!inside.erase(pid)) {
        inside.insert(pid);
        if (counted.counting) ++counted.calls;
      }
      signal = 0;
    } else if (signal == SIGTRAP || known.insert(pid).second) {
      signal = 0;  // a stop for clone or exec, or the first stop of a new thread
    }
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, signal);
  }
}

}  // namespace

SharedMemory::SharedMemory(std::size_t size)
    : address_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), size_(size) {
  if (address_ == MAP_FAILED) throw std::bad_alloc();
}

SharedMemory::~SharedMemory() { ::munmap(address_, size_); }

Result<void> run_in_child(const std::function<Result<void>()>& work) {
  Forked child = TRY(fork_to(work, [] {}));
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return outcome_of(child, status);
}

Result<void> run_in_traced_child(const std::function<Result<void>()>& work, CountedCalls& counted) {
  Forked child = TRY(fork_to(work, ask_to_be_traced));
  int status = 0;
  if (::waitpid(child.pid, &status, __WALL) != child.pid || !WIFSTOPPED(status))
    return invalid("tracing is not allowed here");
  ::ptrace(PTRACE_SETOPTIONS, child.pid, nullptr, kFollowAll);
  ::ptrace(PTRACE_SYSCALL, child.pid, nullptr, 0);
  return outcome_of(child, follow(child.pid, counted));
}

}  // namespace koord::workshop
