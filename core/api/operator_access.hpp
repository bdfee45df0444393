// SPDX-License-Identifier: Apache-2.0
// OperatorAccess: decides which processes may use the data API's unix socket: processes of root, of the agent's own
// user, and of members of listen.socketGroup. A plugin's process is never admitted, whatever its user. [any thread]
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

// Returns the id of the group listen.socketGroup, which is a name or a number; nullopt: the text is empty.
Result<std::optional<gid_t>> find_group(std::string_view group);

// The users that plugins run as. Such a user is never an operator, in any group. count 0: plugins have no own users.
struct PluginUsers {
  uid_t first = 0;
  std::uint64_t count = 0;

  bool has(uid_t uid) const { return uid >= first && uid - first < count; }
};

class OperatorAccess {
 public:
  explicit OperatorAccess(std::optional<gid_t> group, PluginUsers plugins = {});

  // Returns an error with the process and the reason, and logs it. A process belongs to a plugin if it has a plugin
  // user, is in a cgroup of plugins, or is a descendant of the agent. Checks twice that the process has not ended, so
  // that the facts that are read by its id do not belong to a different process.
  Result<void> admit(const http::LocalPeer& peer) const;

  http::UnixAccess unix_access() const {
    return {group_, [access = *this](const http::LocalPeer& peer) { return access.admit(peer); }};
  }

 private:
  std::optional<gid_t> group_;
  PluginUsers plugins_;
  std::shared_ptr<log::RateLimit> refusals_;  // shared by copies
};

// Returns "operator uid 0 pid 123 (koordctl)", for records of changes through the API.
std::string operator_name(const http::LocalPeer& peer);
// Returns this text for the sender of a request; "an operator" if it did not come over the unix socket.
std::string operator_name(const http::Request& request);

}  // namespace koord::api
