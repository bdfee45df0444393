// SPDX-License-Identifier: Apache-2.0
// How one part of the agent does: a line of /readyz.
#pragma once

#include <string>

namespace koord::api {

struct ModuleHealth {
  std::string name;
  bool ready = true;   // false: the agent as a whole is not ready
  std::string detail;  // one line: "ok", or what is wrong; a part may be degraded and still ready
};

}  // namespace koord::api
