// SPDX-License-Identifier: Apache-2.0
// Memory that is lent to a plugin, and enforces the terms: once sealed it cannot be written, once withdrawn not read.
// Records of the ABI are copied into it with everything they point to. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/workshop/check/fault_injection.hpp"
#include "koordetector/plugin.h"

namespace koord::check {

class LentMemory {
 public:
  explicit LentMemory(Lending terms);
  ~LentMemory();  // except for plain terms the addresses stay taken, so that nothing else comes to stand there
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

  koord_str lend(std::string_view text);
  const koord_label* lend(const koord_label* labels, std::uint32_t n);
  const koord_pod* lend(const koord_pod* pods, std::uint32_t n, std::uint32_t stride);
  const koord_container* lend(const koord_container* containers, std::uint32_t n, std::uint32_t stride);
  const koord_node* lend(const koord_node* node);
  const koord_topology* lend(const koord_topology* topology);
  const koord_intent_result* lend(const koord_intent_result* results, std::uint32_t n);

  // Returns the distance in bytes between two records that lend() has copied.
  template <class Record>
  std::uint32_t stride() const {
    return static_cast<std::uint32_t>(sizeof(Record)) + (terms_ == Lending::widely ? kWider : 0);
  }

  void seal();       // by the terms: from now on read-only
  void take_back();  // by the terms: from now on unreadable

 private:
  static constexpr std::uint32_t kWider = 40;

  void* take(std::size_t size);
  template <class T>
  T* copy(const T* first, std::uint32_t n);
  template <class Record>
  Record* copy_records(const Record* first, std::uint32_t n, std::uint32_t stride);
  const koord_resource* lend(const koord_resource* resources, std::uint32_t n, std::uint32_t stride);
  koord_str lend(koord_str text) { return lend(std::string_view(text.p ? text.p : "", text.n)); }
  template <class Record>
  Record* at(Record* first, std::uint32_t i) const;

  Lending terms_;
  std::byte* memory_;
  std::size_t used_ = 0;
};

}  // namespace koord::check
