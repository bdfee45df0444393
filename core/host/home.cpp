// SPDX-License-Identifier: Apache-2.0
#include "core/host/home.hpp"

namespace koord::host {

std::string status_name(koord_status status) {
  switch (status) {
    case KOORD_OK:
      return "KOORD_OK";
    case KOORD_E_INVALID:
      return "KOORD_E_INVALID";
    case KOORD_E_UNSUPPORTED:
      return "KOORD_E_UNSUPPORTED";
    case KOORD_E_AGAIN:
      return "KOORD_E_AGAIN";
    case KOORD_E_DEADLINE:
      return "KOORD_E_DEADLINE";
    case KOORD_E_TOO_NEW:
      return "KOORD_E_TOO_NEW";
    case KOORD_E_DENIED:
      return "KOORD_E_DENIED";
    case KOORD_E_NOMEM:
      return "KOORD_E_NOMEM";
    case KOORD_E_PANIC:
      return "KOORD_E_PANIC";
    case KOORD_E_GONE:
      return "KOORD_E_GONE";
    case KOORD_E_NOT_FOUND:
      return "KOORD_E_NOT_FOUND";
    case KOORD_E_TOO_SMALL:
      return "KOORD_E_TOO_SMALL";
    case KOORD_E_IO:
      return "KOORD_E_IO";
    default:
      return "status " + std::to_string(status);
  }
}

std::string describe(const CallResult& result) {
  return result.text.empty() ? status_name(result.status) : status_name(result.status) + ": " + result.text;
}

}  // namespace koord::host
