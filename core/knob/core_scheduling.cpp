// SPDX-License-Identifier: Apache-2.0
#include "core/knob/core_scheduling.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <thread>

namespace koord::knob {
namespace {

// Constants of linux/prctl.h since Linux 5.14. Older headers do not define them.
constexpr int kSchedCore = 62;
constexpr unsigned long kGet = 0, kCreate = 1, kShareTo = 2, kShareFrom = 3;
constexpr unsigned long kThread = 0, kThreadGroup = 1;

int call(unsigned long operation, std::int32_t pid, unsigned long scope, unsigned long cookie = 0) {
  return ::prctl(kSchedCore, operation, static_cast<unsigned long>(pid), scope, cookie) == 0 ? 0 : errno;
}

}  // namespace

int KernelCoreScheduling::get(std::int32_t thread, std::uint64_t& cookie) const {
  return call(kGet, thread, kThread, reinterpret_cast<unsigned long>(&cookie));
}
int KernelCoreScheduling::create() const { return call(kCreate, 0, kThread); }
int KernelCoreScheduling::share_from(std::int32_t thread) const { return call(kShareFrom, thread, kThread); }
int KernelCoreScheduling::share_to(std::int32_t process) const { return call(kShareTo, process, kThreadGroup); }

void on_throw_away_thread(const std::function<void()>& body) { std::thread(body).join(); }

}  // namespace koord::knob
