// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/control.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace koord::hostile {
namespace {

// The thread switches in one tick of the bystander: loop to worker, worker to child, and twice child to agent.
constexpr int kSwitches = 4;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

Control::Control() {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0)
    throw std::runtime_error("no sockets for a control");
  echo_ = std::thread([this] { echo(); });
  beat_ = std::thread([this] { beat(); });
}

Control::~Control() {
  is_over_ = true;
  beat_.join();
  ::shutdown(ends_[0], SHUT_RDWR);
  echo_.join();
  for (int end : ends_) ::close(end);
}

std::vector<double> Control::beats() const {
  std::lock_guard lock(mutex_);
  return beats_;
}

void Control::beat() {
  char byte = 0;
  while (!is_over_) {
    for (int i = 0; i < kSwitches; ++i)
      if (::write(ends_[0], &byte, 1) != 1 || ::read(ends_[0], &byte, 1) != 1) return;
    {
      std::lock_guard lock(mutex_);
      beats_.push_back(now());
    }
    ::poll(nullptr, 0, static_cast<int>(kBeatPeriod * 1000));
  }
}

void Control::echo() {
  char byte;
  while (::read(ends_[1], &byte, 1) == 1)
    if (::write(ends_[1], &byte, 1) != 1) return;
}

}  // namespace koord::hostile
