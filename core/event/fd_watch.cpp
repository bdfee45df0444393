// SPDX-License-Identifier: Apache-2.0
#include "core/event/fd_watch.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "core/event/fd_watch_state.hpp"

namespace koord::event {
namespace {

// Checks the kernel's rule for epoll. Asio would report a violation only to the first wait.
int check_pollable(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return errno;
  return S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ? EPERM : 0;
}

}  // namespace

Result<std::shared_ptr<FdWatch::State>> FdWatch::State::start(boost::asio::io_context& context, int fd, Ready ready,
                                                              Task task) {
  const auto refuse = [fd](int error) { return system_error(error, "cannot watch descriptor " + std::to_string(fd)); };
  if (int error = check_pollable(fd)) return refuse(error);
  auto state = std::make_shared<State>(context, ready, std::move(task));
  boost::system::error_code error;
  state->descriptor.assign(fd, error);
  if (error) return refuse(error.value());
  state->wait();
  return state;
}

void FdWatch::State::wait() {
  descriptor.async_wait(ready, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->cancelled) return;
    self->task();
    if (!self->cancelled) self->wait();
  });
}

// Releases the descriptor first, because Asio would close it, but the caller owns it.
void FdWatch::State::cancel() {
  cancelled = true;
  descriptor.release();
}

FdWatch::FdWatch(std::shared_ptr<State> state) : state_(std::move(state)) {}

FdWatch::~FdWatch() { state_->cancel(); }

}  // namespace koord::event
