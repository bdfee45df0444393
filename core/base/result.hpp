// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what went wrong in words. Every function of the core that can
// fail returns one; exceptions stay inside libraries that throw them. The member names are a subset of
// std::expected's, so that the type can be swapped for it one day.
#pragma once

#include <cassert>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace koord {

// Why something failed: a code to decide on, and a text for a human. Each layer puts what it knows in front.
struct Error {
  std::error_code code;
  std::string text;

  // "text", or "text: description of the code" when the text does not already end in it.
  std::string message() const;

  // The same error with "what: " in front of the text.
  Error&& context(std::string_view what) &&;

  bool is(std::errc e) const { return code == e; }
};

// An error of our own making: bad input, a broken rule. The text says what was found and what was expected.
Error invalid(std::string text);

// A failed system call. The text names the call's object; the description of `error` is appended.
Error system_error(int error, std::string text);

// Something that was looked for is not there (std::errc::no_such_file_or_directory).
Error not_found(std::string text);

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T value_or(T fallback) const& { return has_value() ? value() : std::move(fallback); }
  T value_or(T fallback) && { return has_value() ? std::move(*this).value() : std::move(fallback); }

  Error& error() & {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  void value() const { assert(ok_); }

  const Error& error() const& {
    assert(!ok_);
    return error_;
  }
  Error&& error() && {
    assert(!ok_);
    return std::move(error_);
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace koord

// The value of a Result, or return its error from the enclosing function: `int n = TRY(parse_uint(text));`
// Do not nest one TRY in another. In a braced list, or an argument of `new`, only the first may be a TRY: when a TRY
// returns, GCC and clang do not destroy what the list already has (a test in test/layers checks that).
#define TRY(expression)                                                  \
  __extension__({                                                        \
    auto try_result_ = (expression);                                     \
    if (!try_result_.has_value()) return std::move(try_result_).error(); \
    std::move(try_result_).value();                                      \
  })
