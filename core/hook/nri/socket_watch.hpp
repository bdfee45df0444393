// SPDX-License-Identifier: Apache-2.0
// SocketWatch: reports at once that a file was created or moved to a path. It needs the folder; as long as that is
// missing, renew() has no effect, and its caller polls. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"

namespace koord::nri {

class SocketWatch {
 public:
  // May be called more than once for one file. It must not destroy the watch.
  using OnCreated = std::function<void()>;

  SocketWatch(event::Loop& loop, std::string path, OnCreated on_created);

  // Begins to watch the folder, unless it is watched.
  void renew();
  void stop();

 private:
  void on_readable();

  event::Loop& loop_;
  const std::string folder_;
  const std::string name_;
  const OnCreated on_created_;
  UniqueFd inotify_;
  std::unique_ptr<event::FdWatch> watch_;
};

}  // namespace koord::nri
