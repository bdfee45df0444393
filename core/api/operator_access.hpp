// SPDX-License-Identifier: Apache-2.0
// Decides which processes may use the data API's unix socket: root, the agent's own user, and members of
// listen.socketGroup; never a plugin's process, whatever its user. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/http/local_peer.hpp"
#include "core/http/message.hpp"
#include "core/log/rate_limit.hpp"

namespace koord::api {

// Returns the id of a group of listen.socketGroup, a name or a number; nullopt: the text is empty.
Result<std::optional<gid_t>> find_group(std::string_view group);

// The users that plugins run as. None of them is an operator, in any group. count 0: they have no users of their own.
struct PluginUsers {
  uid_t first = 0;
  std::uint64_t count = 0;

  bool has(uid_t uid) const { return uid >= first && uid - first < count; }
};

class OperatorAccess {
 public:
  explicit OperatorAccess(std::optional<gid_t> group, PluginUsers plugins = {});

  // Returns an error with the process and the reason, and logs it. A process is a plugin's when it has a user of
  // plugins, is in a cgroup of plugins, or descends from the agent. Looks twice for the end of the process, so that
  // facts read by its id are its own.
  Result<void> admit(const http::LocalPeer& peer) const;

  http::UnixAccess unix_access() const {
    return {group_, [access = *this](const http::LocalPeer& peer) { return access.admit(peer); }};
  }

 private:
  std::optional<gid_t> group_;
  PluginUsers plugins_;
  std::shared_ptr<log::RateLimit> refusals_;  // shared by copies
};

// "operator uid 0 pid 123 (koordctl)", for records of what was changed through the API.
std::string operator_name(const http::LocalPeer& peer);
// The same of a request; "an operator" where it came by another way than the unix socket.
std::string operator_name(const http::Request& request);

}  // namespace koord::api
