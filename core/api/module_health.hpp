// SPDX-License-Identifier: Apache-2.0
// The health of one part of the agent, which is one line of /readyz.
#pragma once

#include <string>

namespace koord::api {

struct ModuleHealth {
  std::string name;
  bool ready = true;   // false: the whole agent is not ready
  std::string detail;  // one line: "ok" or the problem; a degraded part may still be ready
};

}  // namespace koord::api
