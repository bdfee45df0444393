// SPDX-License-Identifier: Apache-2.0
#include "test/node/kernel_counters.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::test {
namespace {

using cgroup::Controller;

double number(const std::string& text, const char* key) {
  return static_cast<double>(find_flat_key(text, key).value_or(0));
}

}  // namespace

double cpu_seconds(const RealCgroup& cgroup) {
  if (auto text = read_file(cgroup.path(Controller::cpuacct) + "/cpuacct.usage"))
    return parse_double(trim(*text)).value() / 1e9;
  return number(read_file(cgroup.path(Controller::cpu) + "/cpu.stat").value(), "usage_usec") / 1e6;
}

Moment read_moment(const RealCgroup& cgroup) {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return {cpu_seconds(cgroup), wall};
}

Throttling throttling(const RealCgroup& cgroup) {
  const std::string text = read_file(cgroup.path(Controller::cpu) + "/cpu.stat").value();
  const double seconds = number(text, "throttled_time") / 1e9 + number(text, "throttled_usec") / 1e6;
  return {number(text, "nr_periods"), number(text, "nr_throttled"), seconds};
}

Burner::Burner(const RealCgroup& cgroup)
    : process_([&cgroup] {
        cgroup.add_process(::getpid());
        for (;;) asm volatile("");
      }) {}

Inhabitant::Pipe::Pipe() {
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
}

Inhabitant::Pipe::~Pipe() {
  ::close(ends[0]);
  ::close(ends[1]);
}

Inhabitant::Inhabitant(const RealCgroup& cgroup, const std::function<void()>& work)
    : process_([&] {
        cgroup.add_process(::getpid());
        work();
        if (::write(done_.ends[1], "x", 1) != 1) return;
        for (;;) ::pause();
      }) {
  pollfd done = {done_.ends[0], POLLIN, 0};
  constexpr int kLimitMs = 60'000;
  if (::poll(&done, 1, kLimitMs) != 1) throw std::runtime_error("a process of the test has not done its work");
}

void hold_memory(std::size_t bytes) {
  static std::vector<char> memory;
  memory.assign(bytes, 'x');
}

}  // namespace koord::test
