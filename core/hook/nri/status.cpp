// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/status.hpp"

namespace koord::nri {

std::string_view to_string(ConnectionState state) {
  switch (state) {
    case ConnectionState::stopped:
      return "stopped";
    case ConnectionState::waiting:
      return "waiting";
    case ConnectionState::registering:
      return "registering";
    case ConnectionState::active:
      return "active";
  }
  return "unknown";
}

}  // namespace koord::nri
