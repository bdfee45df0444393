// SPDX-License-Identifier: Apache-2.0
// Query: the part of a target behind '?'. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/base/url.hpp"

namespace koord::kube {

class Query {
 public:
  // An empty value is left out.
  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_ += name;
    text_ += '=';
    text_ += percent_encode(value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace koord::kube
