// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/options.hpp"

#include <sys/un.h>

#include <algorithm>

namespace koord::nri {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns whether the newest runtimes allow the character in the name of a plugin.
bool is_name_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '+' ||
         c == '-';
}

}  // namespace

Result<void> check(const Options& options) {
  const std::string& name = options.plugin_name;
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character))
    return invalid("plugin name '" + name + "', expected letters, digits and _ . + -");
  const std::string& index = options.plugin_index;
  if (index.size() != 2 || !is_digit(index[0]) || !is_digit(index[1]))
    return invalid("plugin index '" + index + "', expected two digits");
  if (options.socket_path.empty() || options.socket_path.size() >= sizeof(sockaddr_un::sun_path))
    return invalid("socket path '" + options.socket_path + "', expected 1 to " +
                   std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  if ((options.events & events_of({})) == 0)
    return invalid("no event of NRI is chosen, and a runtime takes that for all");
  if (options.deadline <= Duration::zero() || options.synchronize_deadline <= Duration::zero())
    return invalid("the deadlines of NRI must be above zero");
  return {};
}

}  // namespace koord::nri
