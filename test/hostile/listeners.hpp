// SPDX-License-Identifier: Apache-2.0
// Services of others that listen and say nothing: by TCP on loopback, by a socket that only root may open, by an
// abstract name, by a socket of datagrams that all users may open.
#pragma once

#include <string>

#include "core/base/unique_fd.hpp"

namespace koord::hostile {

class Listeners {
 public:
  // The socket is made in the folder.
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
