// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what went wrong in words. Every function of the core that can
// fail returns one; exceptions stay inside libraries that throw them. The member names are a subset of
// std::expected's, so that the type can be swapped for it one day.
#pragma once

#include <cassert>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

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

  Result(T value) : value_(std::move(value)), has_value_(true) {}
  Result(Error error) : error_(std::move(error)), has_value_(false) {}
  Result(const Result& other) requires std::is_copy_constructible_v<T> : has_value_(other.has_value_) {
    if (has_value_) {
      std::construct_at(&value_, other.value_);
    } else {
      std::construct_at(&error_, other.error_);
    }
  }
  Result(Result&& other) noexcept : has_value_(other.has_value_) { take(other); }
  Result& operator=(Result other) noexcept {
    destroy();
    has_value_ = other.has_value_;
    take(other);
    return *this;
  }
  ~Result() { destroy(); }

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    assert(has_value());
    return value_;
  }
  const T& value() const& {
    assert(has_value());
    return value_;
  }
  T&& value() && {
    assert(has_value());
    return std::move(value_);
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
    return error_;
  }
  const Error& error() const& {
    assert(!has_value());
    return error_;
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(error_);
  }

 private:
  void take(Result& other) {
    if (has_value_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      std::construct_at(&error_, std::move(other.error_));
    }
  }
  void destroy() {
    if (has_value_) {
      std::destroy_at(&value_);
    } else {
      std::destroy_at(&error_);
    }
  }

  // A std::variant would take a tenth more of the time to compile everything.
  union {
    T value_;
    Error error_;
  };
  bool has_value_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void value() const { assert(has_value()); }

  const Error& error() const& {
    assert(!has_value());
    return *error_;
  }
  Error&& error() && {
    assert(!has_value());
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
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
