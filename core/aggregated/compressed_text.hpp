// SPDX-License-Identifier: Apache-2.0
// CompressedText: a text in memory, compressed as http::gzip() does. A short text, or one that does not shrink, stays
// as it is. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::aggregated {

class CompressedText {
 public:
  static constexpr std::size_t kLeastBytes = 256;  // shorter texts stay as they are

  CompressedText() = default;
  explicit CompressedText(std::string_view text);

  std::size_t size() const { return size_; }  // of the text
  bool empty() const { return size_ == 0; }
  std::string_view kept() const { return kept_; }

  // Fails if the kept bytes were damaged in memory, which the checksum of gzip notices, or if no memory is left.
  Result<std::string> text() const;

  // Equal texts are kept as equal bytes.
  bool operator==(const CompressedText&) const = default;

 private:
  bool is_plain() const { return kept_.size() == size_; }

  std::string kept_;
  std::size_t size_ = 0;
};

}  // namespace koord::aggregated
