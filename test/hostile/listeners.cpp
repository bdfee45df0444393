// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/listeners.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace koord::hostile {
namespace {

constexpr int kBacklog = 1000;  // connections wait, because none is accepted

UniqueFd listen_at(const std::string& name, std::size_t offset, int type = SOCK_STREAM) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path - 2);
  std::memcpy(address.sun_path + offset, name.data(), size);
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + size));
  ::listen(fd.get(), kBacklog);
  return fd;
}

}  // namespace

Listeners::Listeners(const std::string& folder)
    : path_(folder + "/service.sock"),
      name_("koord-test-hostile-" + std::to_string(::getpid())),
      datagram_path_("/tmp/" + name_ + ".log") {
  tcp_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::listen(tcp_.get(), kBacklog);
  ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  unix_ = listen_at(path_, 0);
  ::chmod(path_.c_str(), 0600);
  abstract_ = listen_at(name_, 1);
  // Like /dev/log: outside of the agent's folder, and open to all users.
  datagram_ = listen_at(datagram_path_, 0, SOCK_DGRAM);
  ::chmod(datagram_path_.c_str(), 0666);
}

Listeners::~Listeners() { ::unlink(datagram_path_.c_str()); }

}  // namespace koord::hostile
