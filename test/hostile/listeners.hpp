// SPDX-License-Identifier: Apache-2.0
// Sockets of other services that listen and never answer: TCP on loopback, a unix socket that only root may open, an
// abstract unix socket, and a datagram socket that all users may open.
#pragma once

#include <string>

#include "core/base/unique_fd.hpp"

namespace koord::hostile {

class Listeners {
 public:
  // Makes the unix socket in this folder.
  explicit Listeners(const std::string& folder);
  Listeners(const Listeners&) = delete;
  ~Listeners();
  const std::string& path() const { return path_; }
  const std::string& abstract_name() const { return name_; }
  const std::string& datagram_path() const { return datagram_path_; }
  unsigned port() const { return port_; }

 private:
  std::string path_, name_, datagram_path_;
  unsigned port_ = 0;
  UniqueFd tcp_, unix_, abstract_, datagram_;
};

}  // namespace koord::hostile
