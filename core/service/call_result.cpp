// SPDX-License-Identifier: Apache-2.0
#include "core/service/call_result.hpp"

#include "core/service/status.hpp"

namespace koord::service {

std::string describe(const CallResult& result) {
  return result.text.empty() ? name_of_status(result.status) : name_of_status(result.status) + ": " + result.text;
}

}  // namespace koord::service
