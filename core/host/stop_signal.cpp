// SPDX-License-Identifier: Apache-2.0
#include "core/host/stop_signal.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace koord::host {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
// The longest wait, a limit for the timeout of ppoll(2). Longer waits are never intended.
constexpr std::uint64_t kMaxWaitNs = 365ull * 24 * 3600 * kNsPerSecond;

std::uint64_t monotonic_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(t.tv_nsec);
}

bool readable_within(int fd, std::uint64_t timeout_ns) {
  std::uint64_t end = monotonic_ns() + (timeout_ns < kMaxWaitNs ? timeout_ns : kMaxWaitNs);
  for (;;) {
    std::uint64_t now = monotonic_ns();
    std::uint64_t left = now < end ? end - now : 0;
    timespec timeout{static_cast<time_t>(left / kNsPerSecond), static_cast<long>(left % kNsPerSecond)};
    pollfd wait{fd, POLLIN, 0};
    int n = ::ppoll(&wait, 1, &timeout, nullptr);
    if (n < 0 && errno == EINTR) continue;
    return n != 0;  // after a different error, stop rather than run forever
  }
}

extern "C" std::int32_t wait_for_stop(const koord_stop* stop, std::uint64_t timeout_ns) {
  return readable_within(stop->fd, timeout_ns) ? 1 : 0;
}

}  // namespace

StopSignal::StopSignal() : StopSignal(UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {}

StopSignal::StopSignal(UniqueFd event)
    : event_(std::move(event)),
      table_{.struct_size = sizeof(koord_stop), .fd = event_.get(), .impl = this, .wait = wait_for_stop} {}

void StopSignal::fire() {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(event_.get(), &one, sizeof one);  // EAGAIN: it was fired already
}

bool StopSignal::fired() const { return readable_within(event_.get(), 0); }

}  // namespace koord::host
