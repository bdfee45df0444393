// SPDX-License-Identifier: Apache-2.0
// CompressedText: a text in memory, compressed by http::gzip(). A short text, or one that compression does not shrink,
// is stored uncompressed. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::aggregated {

class CompressedText {
 public:
  static constexpr std::size_t kLeastBytes = 256;  // shorter texts are not compressed

  CompressedText() = default;
  explicit CompressedText(std::string_view text);

  std::size_t size() const { return size_; }  // size of the uncompressed text
  bool empty() const { return size_ == 0; }
  std::string_view kept() const { return kept_; }

  // Returns the uncompressed text. Fails if the stored bytes were damaged in memory, which gzip's checksum detects, or
  // if memory is exhausted.
  Result<std::string> text() const;

  // Equal texts have equal stored bytes.
  bool operator==(const CompressedText&) const = default;

 private:
  bool is_plain() const { return kept_.size() == size_; }

  std::string kept_;
  std::size_t size_ = 0;
};

}  // namespace koord::aggregated
