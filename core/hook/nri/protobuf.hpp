// SPDX-License-Identifier: Apache-2.0
// The encoding of protobuf, as far as NRI's messages use it: varints, and byte strings for texts, messages and maps.
// Reader goes over the fields of a message and skips those that its caller does not ask for; Writer leaves out fields
// with their default value, as proto3 does. Pure. [one thread]
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord::nri {

using TextMap = std::map<std::string, std::string, std::less<>>;

// How many elements of lists and maps one message may still have, for all its parts together. An empty element takes
// two bytes of a message, but hundreds in memory.
struct Budget {
  static constexpr std::size_t kElements = 512 << 10;
  std::size_t elements = kElements;
};

//   Reader in(bytes, budget);
//   while (in.next()) {
//     switch (in.field()) { case 1: in.read(pod.id); break; … }
//   }
//   TRY(in.finish("PodSandbox"));
//
// After an error next() returns false, and all values are empty.
class Reader {
 public:
  Reader(std::string_view bytes, Budget& budget) : rest_(bytes), budget_(&budget) {}

  bool next();
  std::uint32_t field() const { return field_; }

  // The value of the current field. The wrong kind of value is an error.
  std::uint64_t uint64();
  std::int64_t int64() { return static_cast<std::int64_t>(uint64()); }
  std::int32_t int32() { return static_cast<std::int32_t>(uint64()); }
  std::uint32_t uint32() { return static_cast<std::uint32_t>(uint64()); }
  bool boolean() { return uint64() != 0; }
  std::string_view bytes();
  // A text that is not UTF-8 is an error.
  std::string_view text();

  void read(std::string& value) { value = text(); }
  // One more element of a list of texts.
  void read(std::vector<std::string>& list);
  // One more entry of a map of texts. Keeps it if `keep` returns true for its key.
  template <std::predicate<std::string_view> Keep>
  void read(TextMap& map, const Keep& keep);
  void read(TextMap& map) {
    read(map, [](std::string_view) { return true; });
  }
  // A wrapper message: present, though its value may be the default.
  template <class Number>
  void read_wrapped(std::optional<Number>& value);
  void read_wrapped(std::optional<std::string>& value);

  // Calls `read` with a reader of the message that is the current field.
  template <std::invocable<Reader&> Read>
  void message(const Read& read);
  // The same for one more element of a list of messages.
  template <class Element, std::invocable<Reader&, Element&> Read>
  void message(std::vector<Element>& list, const Read& read);

  // Counts one element; false, and an error, if the budget is used up.
  bool count_element();

  bool failed() const { return problem_ != nullptr; }
  // Returns what was wrong with the message.
  Result<void> finish(std::string_view message_name) const;

 private:
  void fail(const char* problem);
  std::uint64_t varint();
  void read_value(std::uint32_t wire_type);
  std::string_view take(std::uint64_t size);

  std::string_view rest_;
  Budget* budget_;
  const char* problem_ = nullptr;
  std::uint32_t problem_field_ = 0;
  std::uint32_t field_ = 0;
  std::uint32_t wire_type_ = 0;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

class Writer {
 public:
  // Leaves out zero. Negative numbers are their two's complement of 64 bits.
  void number(std::uint32_t field, std::uint64_t value);
  void boolean(std::uint32_t field, bool value) { number(field, value ? 1 : 0); }
  // Both leave out an empty value.
  void bytes(std::uint32_t field, std::string_view value);
  void text(std::uint32_t field, std::string_view value);
  void texts(std::uint32_t field, const std::vector<std::string>& list);
  void map(std::uint32_t field, const TextMap& map);

  // A wrapper message, also for zero; nothing for nullopt.
  template <std::integral Number>
  void wrapped(std::uint32_t field, std::optional<Number> value);
  void wrapped(std::uint32_t field, const std::optional<std::string>& value);

  // Writes the message that `fill` writes, also an empty one.
  template <std::invocable<Writer&> Fill>
  void message(std::uint32_t field, const Fill& fill);
  // The same, nothing for an empty one.
  template <std::invocable<Writer&> Fill>
  void message_unless_empty(std::uint32_t field, const Fill& fill);

  // False if a text is not UTF-8: Go's protobuf refuses the whole message.
  bool is_valid() const { return valid_; }
  std::string finish() && { return std::move(out_); }

 private:
  void tag(std::uint32_t field, std::uint32_t wire_type);
  void varint(std::uint64_t value);
  void append(std::uint32_t field, std::string_view value);

  std::string out_;
  bool valid_ = true;
};

template <std::predicate<std::string_view> Keep>
void Reader::read(TextMap& map, const Keep& keep) {
  message([&](Reader& entry) {
    std::string_view key, value;
    while (entry.next()) {
      if (entry.field() == 1) key = entry.text();
      if (entry.field() == 2) value = entry.text();
    }
    if (!entry.failed() && keep(key) && entry.count_element())
      map.insert_or_assign(std::string(key), std::string(value));
  });
}

template <class Number>
void Reader::read_wrapped(std::optional<Number>& value) {
  value = Number{};
  message([&](Reader& wrapper) {
    while (wrapper.next())
      if (wrapper.field() == 1) value = static_cast<Number>(wrapper.uint64());
  });
}

template <std::invocable<Reader&> Read>
void Reader::message(const Read& read) {
  Reader inner(bytes(), *budget_);
  if (failed()) return;
  read(inner);
  if (inner.failed()) fail(inner.problem_);
}

template <class Element, std::invocable<Reader&, Element&> Read>
void Reader::message(std::vector<Element>& list, const Read& read) {
  if (!count_element()) return;
  message([&](Reader& inner) { read(inner, list.emplace_back()); });
}

template <std::integral Number>
void Writer::wrapped(std::uint32_t field, std::optional<Number> value) {
  if (value) message(field, [&](Writer& wrapper) { wrapper.number(1, static_cast<std::uint64_t>(*value)); });
}

template <std::invocable<Writer&> Fill>
void Writer::message(std::uint32_t field, const Fill& fill) {
  Writer inner;
  fill(inner);
  valid_ = valid_ && inner.valid_;
  append(field, inner.out_);
}

template <std::invocable<Writer&> Fill>
void Writer::message_unless_empty(std::uint32_t field, const Fill& fill) {
  Writer inner;
  fill(inner);
  valid_ = valid_ && inner.valid_;
  if (!inner.out_.empty()) append(field, inner.out_);
}

}  // namespace koord::nri
