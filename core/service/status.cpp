// SPDX-License-Identifier: Apache-2.0
#include "core/service/status.hpp"

namespace koord::service {
namespace {

class StatusCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "koord_status"; }
  std::string message(int status) const override { return name_of_status(status); }
};

constinit const StatusCategory status_category;

}  // namespace

Error refuse(koord_status status, std::string text) {
  return Error{std::error_code(status, status_category), std::move(text)};
}

koord_status status_of(const Error& error) {
  if (error.code.category() == status_category) return error.code.value();
  const std::errc condition = static_cast<std::errc>(error.code.default_error_condition().value());
  switch (condition) {
    case std::errc::invalid_argument:
      return KOORD_E_INVALID;
    case std::errc::no_such_file_or_directory:
    case std::errc::not_a_directory:
      return KOORD_E_NOT_FOUND;
    case std::errc::no_such_device:
    case std::errc::no_such_process:
      return KOORD_E_GONE;
    case std::errc::not_supported:
    case std::errc::function_not_supported:
      return KOORD_E_UNSUPPORTED;
    case std::errc::resource_unavailable_try_again:
      return KOORD_E_AGAIN;
    case std::errc::not_enough_memory:
      return KOORD_E_NOMEM;
    case std::errc::timed_out:
      return KOORD_E_DEADLINE;
    default:
      return KOORD_E_IO;
  }
}

std::string why(const Error& error) { return error.code.category() == status_category ? error.text : error.message(); }

std::string name_of_status(koord_status status) {
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

}  // namespace koord::service
