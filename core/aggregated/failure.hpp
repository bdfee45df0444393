// SPDX-License-Identifier: Apache-2.0
// Failure: a refused request. The client gets an object of kind Status, as from an API server. Outcome<T>: a value or a
// Failure; TRY accepts it like a Result. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/aggregated/version.hpp"
#include "core/base/result.hpp"
#include "core/http/message.hpp"

namespace koord::aggregated {

struct Cause {
  std::string field;        // "status.podsMetric[3].podUsage"
  std::string_view reason;  // "FieldValueInvalid"
  std::string message;
};

struct Failure {
  unsigned code = 500;
  std::string_view reason;
  std::string message;
  std::string name = {};  // name of the object
  std::vector<Cause> causes = {};
  unsigned retry_after_seconds = 0;  // 0: a retry does not help
};

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  const Failure& error() const& { return *std::get_if<1>(&state_); }
  Failure&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Failure> state_;
};

// Returns the object of kind Status.
std::string status_text(const Failure& failure);
http::Response to_response(const Failure& failure);

Failure bad_request(std::string message);                                  // 400 BadRequest
Failure unauthorized(std::string message);                                 // 401 Unauthorized; "": default message
Failure forbidden(std::string_view name, std::string message);             // 403 Forbidden
Failure no_such_object(std::string_view name);                             // 404 NotFound
Failure no_such_path(std::string_view path);                               // 404 NotFound
Failure method_not_allowed(std::string message);                           // 405 MethodNotAllowed
Failure not_acceptable();                                                  // 406 NotAcceptable
Failure already_exists(std::string_view name);                             // 409 AlreadyExists
Failure conflict(std::string_view name, std::string message);              // 409 Conflict
Failure expired(Version asked, Version oldest);                            // 410 Expired
Failure too_large(std::string message);                                    // 413 RequestEntityTooLarge
Failure unsupported_body(std::string message);                             // 415 UnsupportedMediaType
Failure invalid_object(std::string_view name, std::vector<Cause> causes);  // 422 Invalid
Failure too_many_requests(std::string message);                            // 429 TooManyRequests
Failure internal_error(std::string_view name, std::string message);        // 500 InternalError
Failure not_serving(std::string message);                                  // 503 ServiceUnavailable
Failure version_too_large(Version asked, Version newest);                  // 504 Timeout

}  // namespace koord::aggregated
