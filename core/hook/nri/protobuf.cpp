// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/protobuf.hpp"

#include "core/base/utf8.hpp"

namespace koord::nri {
namespace {

constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
constexpr std::uint64_t kMaxField = (1U << 29) - 1;

}  // namespace

void Reader::fail(const char* problem) {
  if (problem_) return;
  problem_ = problem;
  problem_field_ = field_;
  rest_ = {};
  bytes_ = {};
  number_ = 0;
}

bool Reader::next() {
  if (failed() || rest_.empty()) return false;
  const std::uint64_t tag = varint();
  if (failed()) return false;
  if (tag >> 3 == 0 || tag >> 3 > kMaxField) {
    fail("the number of a field is invalid");
    return false;
  }
  field_ = static_cast<std::uint32_t>(tag >> 3);
  wire_type_ = tag & 7;
  read_value(wire_type_);
  return !failed();
}

// Reads a value of any kind, so that unused fields are skipped. Groups (3 and 4) do not exist in proto3.
void Reader::read_value(std::uint32_t wire_type) {
  switch (wire_type) {
    case kVarint:
      number_ = varint();
      break;
    case kFixed64:
      take(8);
      break;
    case kBytes:
      bytes_ = take(varint());
      break;
    case kFixed32:
      take(4);
      break;
    default:
      fail("the kind of a value is unknown");
  }
}

std::uint64_t Reader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  fail("a number is cut off or too long");
  return 0;
}

std::string_view Reader::take(std::uint64_t size) {
  if (size > rest_.size()) {
    fail("a value is cut off");
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

std::uint64_t Reader::uint64() {
  if (wire_type_ != kVarint) fail("not a number");
  return number_;
}

std::string_view Reader::bytes() {
  if (wire_type_ != kBytes) fail("not a text or message");
  return bytes_;
}

std::string_view Reader::text() {
  const std::string_view value = bytes();
  if (is_valid_utf8(value)) return value;
  fail("a text is not UTF-8");
  return {};
}

void Reader::read(std::vector<std::string>& list) {
  if (count_element()) list.emplace_back(text());
}

void Reader::read_wrapped(std::optional<std::string>& value) {
  value.emplace();
  message([&](Reader& wrapper) {
    while (wrapper.next())
      if (wrapper.field() == 1) wrapper.read(*value);
  });
}

bool Reader::count_element() {
  if (budget_->elements == 0) {
    fail("too many elements");
    return false;
  }
  --budget_->elements;
  return true;
}

Result<void> Reader::finish(std::string_view message_name) const {
  if (!failed()) return {};
  return invalid(std::string(message_name) + ", field " + std::to_string(problem_field_) + ": " + problem_);
}

void Writer::tag(std::uint32_t field, std::uint32_t wire_type) { varint(field << 3 | wire_type); }

void Writer::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
  out_.push_back(static_cast<char>(value));
}

void Writer::append(std::uint32_t field, std::string_view value) {
  tag(field, kBytes);
  varint(value.size());
  out_.append(value);
}

void Writer::number(std::uint32_t field, std::uint64_t value) {
  if (value == 0) return;
  tag(field, kVarint);
  varint(value);
}

void Writer::bytes(std::uint32_t field, std::string_view value) {
  if (!value.empty()) append(field, value);
}

void Writer::text(std::uint32_t field, std::string_view value) {
  valid_ = valid_ && is_valid_utf8(value);
  bytes(field, value);
}

void Writer::texts(std::uint32_t field, const std::vector<std::string>& list) {
  for (const std::string& each : list) {
    valid_ = valid_ && is_valid_utf8(each);
    append(field, each);
  }
}

void Writer::map(std::uint32_t field, const TextMap& map) {
  for (const auto& each : map) {
    message(field, [&](Writer& entry) {
      entry.text(1, each.first);
      entry.text(2, each.second);
    });
  }
}

void Writer::wrapped(std::uint32_t field, const std::optional<std::string>& value) {
  if (value) message(field, [&](Writer& wrapper) { wrapper.text(1, *value); });
}

}  // namespace koord::nri
