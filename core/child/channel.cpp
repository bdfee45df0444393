// SPDX-License-Identifier: Apache-2.0
#include "core/child/channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/child/close_elsewhere.hpp"
#include "core/child/memory_file.hpp"

namespace koord::child {
namespace {

// Far below the default size of a socket's send buffer.
constexpr std::size_t kMaxPacket = 32u << 10;
constexpr std::size_t kMostDescriptors = 253;  // SCM_MAX_FD

// The first byte of a packet: how to read the rest.
enum Form : char { kInline = 'i', kInlineWithFd = 'd', kInMemfd = 'm' };

// Calls poll(2) on one descriptor. Returns false if nothing happened within the time.
Result<bool> wait_for(int fd, short events, Duration patience) {
  auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd wait{fd, events, 0};
    int n = ::poll(&wait, 1, static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, "poll");
    if (n > 0 || std::chrono::steady_clock::now() >= end) return n > 0;  // a single poll() waits at most 12 days
  }
}

Result<std::string> content_of(int fd, std::size_t most) {
  struct stat about;
  if (::fstat(fd, &about) != 0) return system_error(errno, "message");
  if (!S_ISREG(about.st_mode) || about.st_size < 0 || static_cast<std::size_t>(about.st_size) > most)
    return invalid("a message of " + std::to_string(about.st_size) + " bytes, expected at most " +
                   std::to_string(most));
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return invalid("a message that shrank while it was read");
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

// The content of one packet: its form, then bytes and possibly a descriptor.
struct Packet {
  Form form;
  std::string_view bytes;
  int fd;
};

Result<void> send_packet(int socket, Packet packet, Duration patience) {
  iovec pieces[2] = {{&packet.form, 1}, {const_cast<char*>(packet.bytes.data()), packet.bytes.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  if (packet.fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &packet.fd, sizeof(int));
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return system_error(errno, "cannot send");
    if (!TRY(wait_for(socket, POLLOUT, patience))) return system_error(ETIMEDOUT, "cannot send");
  }
}

// Returns whether the descriptor belongs to a memfd or a different tmpfs file. Reading and closing such a file never
// blocks. Files of any other kind may block on purpose.
bool is_memory(int fd) { return ::fcntl(fd, F_GET_SEALS) >= 0; }

// The descriptors of a message. All descriptors are received, so no descriptor leaks. The first descriptor is used, the
// others are closed.
struct Taken {
  UniqueFd first;
  bool foreign = false;  // the message has a descriptor that a child may not send
};
Taken take_fd(msghdr& message, bool guarded) {
  Taken all;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      UniqueFd taken(fd);
      if (guarded && !is_memory(fd)) {
        all.foreign = true;
        close_elsewhere(std::move(taken));
      } else if (!all.first) {
        all.first = std::move(taken);
      }
    }
  }
  return all;
}

Result<Message> open_packet(std::string_view packet, UniqueFd fd, bool guarded, std::size_t most) {
  if (packet.empty()) return invalid("an empty packet");
  char form = packet.front();
  packet.remove_prefix(1);
  if (form == kInline && !fd) return Message{std::string(packet), {}};
  if (form == kInlineWithFd && fd && !guarded) return Message{std::string(packet), std::move(fd)};
  if (form == kInMemfd && fd && packet.empty()) return Message{TRY(content_of(fd.get(), most)), {}};
  return invalid("a packet of an unknown form");
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error(errno, "socketpair");
  return std::pair(Channel(UniqueFd(ends[0])), Channel(UniqueFd(ends[1])));
}

// Closes the socket, and with it the descriptors that a child left in its queue. Closing these may block, so a separate
// thread closes a guarded socket.
Channel::~Channel() {
  if (guarded_ && fd_) close_elsewhere(std::move(fd_));
}

Result<void> Channel::send(std::string_view bytes, int fd, Duration patience) {
  if (bytes.size() < kMaxPacket)
    return send_packet(fd_.get(), {fd >= 0 ? kInlineWithFd : kInline, bytes, fd}, patience);
  if (fd >= 0 || bytes.size() > kMaxBytes)
    return invalid("a message of " + std::to_string(bytes.size()) + " bytes is too large");
  UniqueFd memory = TRY(memory_with(bytes, false));
  return send_packet(fd_.get(), {kInMemfd, {}, memory.get()}, patience);
}

Result<std::optional<Message>> Channel::receive(Duration patience) {
  if (!TRY(wait_for(fd_.get(), POLLIN, patience))) return std::optional<Message>();
  buffer_.resize(kMaxPacket);
  iovec piece{buffer_.data(), buffer_.size()};
  // Room for as many descriptors as a message may carry, because the kernel would close further descriptors on this
  // thread.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return std::optional<Message>();
  if (n < 0) return system_error(errno, "cannot receive");
  auto [fd, foreign] = take_fd(message, guarded_);
  if (foreign) return invalid("it sent a descriptor, expected none but of memory");
  if (n == 0 && !fd) return system_error(EPIPE, "the other end is closed");
  if ((message.msg_flags & MSG_TRUNC) != 0) return invalid("a packet that is too large");
  return std::optional<Message>(TRY(
      open_packet(std::string_view(buffer_).substr(0, static_cast<std::size_t>(n)), std::move(fd), guarded_, most_)));
}

}  // namespace koord::child
