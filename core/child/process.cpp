// SPDX-License-Identifier: Apache-2.0
#include "core/child/process.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/base/pidfd.hpp"
#include "core/base/spawn_plan.hpp"
#include "core/child/await_end.hpp"
#include "core/child/protocol.hpp"
#include "core/child/spawner.hpp"

namespace koord::child {
namespace {

constexpr Duration kDeathPatience = std::chrono::seconds(2);

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "with exit code " + std::to_string(WEXITSTATUS(status));
  return "by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
}

}  // namespace

Process::Process(Channel calls, Channel hooks, Channel services, SampleRing samples)
    : calls_(std::move(calls)), hooks_(std::move(hooks)), services_(std::move(services)), samples_(std::move(samples)) {
  for (Channel* channel : {&calls_, &hooks_, &services_}) channel->guard();
}

Result<std::unique_ptr<Process>> Process::start(const std::string& program, const std::string& plugin_id,
                                                const std::string& plugin_path) {
  auto [calls, its_calls] = TRY(Channel::pair());
  auto [hooks, its_hooks] = TRY(Channel::pair());
  auto [services, its_services] = TRY(Channel::pair());
  SampleRing samples = TRY(SampleRing::make());
  std::unique_ptr<Process> process(
      new Process(std::move(calls), std::move(hooks), std::move(services), std::move(samples)));
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) return system_error(errno, "pipe for a child");
  process->output_.reset(output[0]);
  UniqueFd its_output(output[1]), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::fcntl(process->output_.get(), F_SETFL, O_NONBLOCK);

  SpawnPlan plan(kSamplesFd);  // a plugin cannot leave its process group (sandbox.cpp)
  TRY(plan.give(nothing.get(), STDIN_FILENO));
  TRY(plan.give(its_output.get(), STDOUT_FILENO));
  TRY(plan.give(its_output.get(), STDERR_FILENO));
  TRY(plan.give(its_calls.fd(), kCallsFd));
  TRY(plan.give(its_hooks.fd(), kHooksFd));
  TRY(plan.give(its_services.fd(), kServicesFd));
  TRY(plan.give(process->samples_.fd(), kSamplesFd));
  std::array<std::string, 3> words{"koord-plugin-host", plugin_id, plugin_path};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  // The child gets no variables of the agent's environment.
  std::array<std::string, 2> settings{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"};
  std::array<char*, 3> environment{settings[0].data(), settings[1].data(), nullptr};
  const int error = run_on_spawner([&] {
    return ::posix_spawn(&process->pid_, program.c_str(), plan.files(), plan.attributes(), arguments.data(),
                         environment.data());
  });
  if (error == ENOENT)
    return invalid(system_error(error, "cannot run '" + program + "'").message() + "; set plugins.childProgram");
  if (error != 0) return system_error(error, "cannot run '" + program + "'");
  process->pidfd_ = open_pidfd(process->pid_);
  if (!process->pidfd_) return system_error(errno, "pidfd of a child");
  return process;
}

Process::~Process() {
  if (pid_ <= 0 || wait(Duration::zero())) return;
  signal(SIGKILL);
  // A process ends late while its cgroup may not run, or the kernel works on its behalf.
  if (!wait(kDeathPatience)) reap_later(pid_, std::move(pidfd_));
}

void Process::signal(int number) const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0); }

std::optional<std::string> Process::wait(Duration patience) {
  std::lock_guard lock(reaping_);
  if (ended_) return ended_;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
  if (!await_end(pid_, pidfd_.get(), static_cast<int>(milliseconds))) return std::nullopt;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ended_ = how_it_ended(status);
  if (after_end_) after_end_();
  return ended_;
}

}  // namespace koord::child
