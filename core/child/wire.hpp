// SPDX-License-Identifier: Apache-2.0
// A message between the host and a child: numbers and texts, one after the other, in this machine's byte order. Packer
// writes, Unpacker reads; the reader trusts nothing: past the end, or after a text that is longer than the message,
// everything reads as zero and ok() is false. [one thread each]
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "koordetector/plugin.h"

namespace koord::child {

class Packer {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> Packer& add(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Packer& add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_ += text;
    return *this;
  }
  Packer& add(std::span<const koord_label> labels) {
    add(static_cast<std::uint32_t>(labels.size()));
    for (const koord_label& label : labels) add(label.key).add(label.value);
    return *this;
  }
  Packer& add(koord_str text) { return add(text.p ? std::string_view(text.p, text.n) : std::string_view()); }

  // Appends the content of another one.
  Packer& append(const Packer& other) {
    bytes_ += other.bytes_;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  requires std::is_arithmetic_v<Number> Number number() {
    Number number{};
    if (std::string_view bytes = take(sizeof number); !bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  // Borrowed from the message.
  std::string_view text() { return take(number<std::uint64_t>()); }
  koord_str str() {
    std::string_view borrowed = text();
    return {borrowed.data(), borrowed.size()};
  }
  // n, then key and value of each. Borrowed, too.
  std::vector<koord_label> labels() {
    std::vector<koord_label> labels(count(2 * sizeof(std::uint64_t)));
    for (koord_label& label : labels) label = {str(), str()};
    return labels;
  }
  // How many elements follow, each of at least `least_bytes`: no count that the message cannot hold.
  std::uint32_t count(std::size_t least_bytes) {
    auto n = number<std::uint32_t>();
    if (n <= rest_.size() / least_bytes) return n;
    ok_ = false;
    return 0;
  }

  bool ok() const { return ok_; }
  // The content read so far makes no sense: ok() is false from now on.
  void refuse() { ok_ = false; }
  // All was read, and nothing was missing.
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace koord::child
