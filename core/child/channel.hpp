// SPDX-License-Identifier: Apache-2.0
// Channel: one end of a SOCK_SEQPACKET pair between the host and a child. A message goes whole or not at all; one that
// is too large for a packet travels in a memfd, of which the receiver reads a copy: later changes by the sender are
// harmless. A message may carry one descriptor. [any thread sends, one thread at a time receives] The host's end is
// guarded: a child's messages are shorter and carry no descriptor but that of a memfd. Any other is closed on a thread
// of its own, since close(2) of a third party's file may take its time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::child {

// No time limit: the wait ends with the other side.
inline constexpr Duration kForEver = std::chrono::hours(24 * 365);

struct Message {
  std::string bytes;
  UniqueFd fd;
};

class Channel {
 public:
  static constexpr std::size_t kMaxBytes = 16u << 20;

  // Both ends, close-on-exec.
  static Result<std::pair<Channel, Channel>> pair();
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}
  Channel(Channel&&) = default;
  Channel& operator=(Channel&&) = default;
  ~Channel();

  // The longest message that a child may send.
  static constexpr std::size_t kMaxFromChild = 6u << 20;
  // From now on what is received is a child's, and no longer than `most`.
  void guard(std::size_t most = kMaxFromChild) {
    guarded_ = true;
    most_ = most;
  }

  int fd() const { return fd_.get(); }

  // Waits for room no longer than `patience`.
  Result<void> send(std::string_view bytes, int fd = -1, Duration patience = std::chrono::seconds(1));

  // nullopt: nothing came by then. An error: the other end is closed (broken_pipe), or it sent something that is not a
  // message.
  Result<std::optional<Message>> receive(Duration patience);

 private:
  UniqueFd fd_;
  bool guarded_ = false;
  std::size_t most_ = kMaxBytes;
  std::string buffer_;  // of receive(), kept for its memory
};

}  // namespace koord::child
