// SPDX-License-Identifier: Apache-2.0
// The command line of koord-cri-proxy.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/log/log.hpp"

namespace koord::criproxy {

struct Options {
  enum class Action { run, version, help };

  Action action = Action::run;
  std::string listen = "/run/koord-cri-proxy/cri.sock";
  std::string runtime = "/run/containerd/containerd.sock";
  std::string agent = "/run/koordetector/koordetector.sock";  // empty: no agent is asked
  Duration agent_wait = std::chrono::milliseconds(200);
  std::string hook_servers = "/etc/runtime/hookserver.d";
  Duration hook_server_wait = std::chrono::seconds(2);
  std::string state = "/var/lib/koord-cri-proxy";
  std::string health = "127.0.0.1:9318";  // empty: no listener
  Duration drain = std::chrono::milliseconds(500);
  log::Level log_level = log::Level::info;
  log::Format log_format = log::Format::text;
};

// Parses `arguments`, which do not include the program's name.
Result<Options> parse_options(const std::vector<std::string>& arguments);

std::string usage();

}  // namespace koord::criproxy
