// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/socket_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

namespace koord::nri {

SocketWatch::SocketWatch(event::Loop& loop, std::string path, OnCreated on_created)
    : loop_(loop),
      folder_(std::filesystem::path(path).parent_path().string()),
      name_(std::filesystem::path(path).filename().string()),
      on_created_(std::move(on_created)) {}

void SocketWatch::renew() {
  if (watch_) return;
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const char* folder = folder_.empty() ? "." : folder_.c_str();
  if (!inotify || ::inotify_add_watch(inotify.get(), folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) return;
  auto watch = loop_.on_readable(inotify.get(), [this] { on_readable(); });
  if (!watch) return;
  inotify_ = std::move(inotify);
  watch_ = std::move(watch).value();
}

void SocketWatch::stop() {
  watch_.reset();
  inotify_.reset();
}

void SocketWatch::on_readable() {
  alignas(inotify_event) std::array<char, 16 << 10> events;
  const ssize_t n = ::read(inotify_.get(), events.data(), events.size());
  bool created = false, gone = false;
  for (std::size_t at = 0; n > 0 && at < static_cast<std::size_t>(n);) {
    inotify_event event;
    std::memcpy(&event, events.data() + at, sizeof event);
    const char* const name = events.data() + at + sizeof event;
    if (event.len > 0 && std::string_view(name) == name_) created = true;
    if (event.mask & IN_IGNORED) gone = true;  // the folder was removed
    at += sizeof event + event.len;
  }
  if (gone) stop();
  if (created) on_created_();
}

}  // namespace koord::nri
