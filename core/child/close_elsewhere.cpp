// SPDX-License-Identifier: Apache-2.0
#include "core/child/close_elsewhere.hpp"

#include <pthread.h>

#include <atomic>
#include <system_error>
#include <thread>

namespace koord::child {
namespace {

constexpr unsigned kMostThreadsClosing = 32;

constinit std::atomic<unsigned> threads_closing = 0, left_open = 0;

void leave_open(UniqueFd& fd) {
  fd.release();
  ++left_open;
}

}  // namespace

void close_elsewhere(UniqueFd fd) {
  if (threads_closing.fetch_add(1) >= kMostThreadsClosing) {
    --threads_closing;
    return leave_open(fd);
  }
  const int number = fd.get();
  try {
    std::thread([number] {
      pthread_setname_np(pthread_self(), "close");
      UniqueFd(number).reset();
      --threads_closing;
    }).detach();
    fd.release();
  } catch (const std::system_error&) {  // no thread could be started
    --threads_closing;
    leave_open(fd);
  }
}

unsigned descriptors_left_open() { return left_open; }

}  // namespace koord::child
