// SPDX-License-Identifier: Apache-2.0
#include "test/support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/base/file.hpp"

namespace koord::test {
namespace {

pid_t fork_tied_to_us() {
  pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

[[noreturn]] void exec(const std::vector<std::string>& command, const std::string& output_path) {
  if (!output_path.empty()) {
    int fd = ::open(output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& output_path)
    : pid_(fork_tied_to_us()) {
  if (pid_ == 0) exec(command, output_path);
}

ChildProcess::ChildProcess(const std::function<void()>& body) : pid_(fork_tied_to_us()) {
  if (pid_ != 0) return;
  body();
  ::_exit(0);
}

ChildProcess::~ChildProcess() {
  if (!running()) return;
  signal(SIGKILL);
  wait(std::chrono::seconds(10));
}

bool ChildProcess::running() { return !wait(std::chrono::milliseconds(0)); }

void ChildProcess::signal(int number) const { ::kill(pid_, number); }

std::optional<int> ChildProcess::wait(std::chrono::milliseconds timeout) {
  if (status_) return status_;
  int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (fd >= 0) {
    pollfd ended{fd, POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(timeout.count()));
    ::close(fd);
  }
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

Finished run_to_end(const std::vector<std::string>& command, std::chrono::milliseconds timeout) {
  std::string path = (std::filesystem::temp_directory_path() / "koord-test-output-XXXXXX").string();
  int fd = ::mkstemp(path.data());
  if (fd < 0) throw std::runtime_error("cannot make a temporary file");
  ::close(fd);
  ChildProcess child(command, path);
  std::optional<int> status = child.wait(timeout);
  Finished finished;
  if (status && WIFEXITED(*status)) finished.exit_status = WEXITSTATUS(*status);
  finished.output = read_file(path).value_or("");
  ::unlink(path.c_str());
  return finished;
}

}  // namespace koord::test
