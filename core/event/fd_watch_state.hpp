// SPDX-License-Identifier: Apache-2.0
// The state shared by a watch and its pending wait. Inside core/event only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "core/base/result.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/task.hpp"

namespace koord::event {

struct FdWatch::State : std::enable_shared_from_this<FdWatch::State> {
  using Ready = boost::asio::posix::descriptor_base::wait_type;

  static Result<std::shared_ptr<State>> start(boost::asio::io_context& context, int fd, Ready ready, Task task);

  State(boost::asio::io_context& context, Ready r, Task t) : descriptor(context), ready(r), task(std::move(t)) {}

  void wait();
  void cancel();

  boost::asio::posix::stream_descriptor descriptor;
  const Ready ready;
  Task task;
  bool cancelled = false;
};

}  // namespace koord::event
