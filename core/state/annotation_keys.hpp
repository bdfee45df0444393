// SPDX-License-Identifier: Apache-2.0
// The annotations of pods that are kept: those of Koordinator's and our own domains, a few of Kubernetes', and those
// that the configuration or a plugin's manifest names. A pod may carry 256 KiB of others, which are never used. [any
// thread]
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace koord::state {

class AnnotationKeys {
 public:
  AnnotationKeys() = default;
  // In addition to those that are always kept: "example.org/batch", or all of a domain, "example.org/*".
  explicit AnnotationKeys(std::vector<std::string> more) : more_(std::move(more)) {}

  bool contains(std::string_view key) const;

 private:
  std::vector<std::string> more_;
};

// The keys of now, for sources that read pods at any time.
class AnnotationFilter {
 public:
  using KeysPtr = std::shared_ptr<const AnnotationKeys>;

  // Counts for what is read from now on.
  void set(AnnotationKeys keys);
  KeysPtr keys() const;

 private:
  mutable std::mutex mutex_;
  KeysPtr keys_ = std::make_shared<const AnnotationKeys>();
};

}  // namespace koord::state
