// SPDX-License-Identifier: Apache-2.0
// Accepts connections from one listening socket. A process out of descriptors pauses instead of spinning.
// Owner: the server's core. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/loop.hpp"
#include "core/event/timer.hpp"

namespace koord::http {

class Listener {
 public:
  using OnAccept = std::function<void(UniqueFd)>;

  // `unix_path`: removed at the end, empty for TCP.
  Listener(event::Loop& loop, UniqueFd fd, std::string unix_path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start(OnAccept on_accept);
  bool is_unix() const { return !unix_path_.empty(); }

 private:
  void watch();
  void accept_all();
  void pause();
  void remove_path() const;

  event::Loop& loop_;
  UniqueFd fd_;
  std::string unix_path_;
  unsigned long inode_ = 0;  // of unix_path_: a file that another process put there since is left alone
  OnAccept on_accept_;
  std::unique_ptr<event::FdWatch> watch_;
  std::unique_ptr<event::Timer> retry_;
};

}  // namespace koord::http
