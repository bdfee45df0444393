// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/compressed_text.hpp"

#include <string>

#include "core/http/gzip.hpp"

namespace koord::aggregated {

CompressedText::CompressedText(std::string_view text) : size_(text.size()) {
  if (size_ >= kLeastBytes) kept_ = http::gzip(text).value_or({});
  if (kept_.empty() || kept_.size() >= size_) kept_ = text;
}

Result<std::string> CompressedText::text() const {
  if (is_plain()) return kept_;
  Result<std::string> text = http::gunzip(kept_, size_);
  if (text && text->size() == size_) return text;
  return invalid("a compressed text is damaged in memory: expected " + std::to_string(size_) + " bytes from " +
                 std::to_string(kept_.size()) + (text ? std::string() : ": " + text.error().message()));
}

}  // namespace koord::aggregated
