// SPDX-License-Identifier: Apache-2.0
// OwnNetwork: a network namespace with a loopback interface. While the object exists, the calling thread is in the
// namespace, and so are the threads and processes that it creates. Needs root.
#pragma once

#include <fcntl.h>
#include <sched.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "test/support/child_process.hpp"

namespace koord::test {

class OwnNetwork {
 public:
  static bool is_available() {
    const UniqueFd before = here();
    return ::unshare(CLONE_NEWNET) == 0 && ::setns(before.get(), CLONE_NEWNET) == 0;
  }

  // `addresses`: further addresses of the interface, such as "fd00::1/64".
  explicit OwnNetwork(const std::vector<std::string>& addresses = {}) {
    if (::unshare(CLONE_NEWNET) != 0) throw std::runtime_error("cannot make a network namespace");
    ip({"link", "set", "lo", "up"});
    for (const std::string& address : addresses) ip({"addr", "add", address, "dev", "lo", "nodad"});
  }
  OwnNetwork(const OwnNetwork&) = delete;
  OwnNetwork& operator=(const OwnNetwork&) = delete;

 private:
  static UniqueFd here() { return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }
  static void ip(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ip");
    const Finished finished = run_to_end(arguments);
    if (finished.exit_status != 0)
      throw std::runtime_error("ip " + arguments[1] + " (package iproute2): " + finished.output);
  }

  // Moves the thread back, even if the constructor fails.
  struct Before {
    ~Before() { static_cast<void>(!::setns(network.get(), CLONE_NEWNET)); }
    UniqueFd network = here();
  };
  Before before_;
};

}  // namespace koord::test
