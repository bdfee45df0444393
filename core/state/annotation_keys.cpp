// SPDX-License-Identifier: Apache-2.0
#include "core/state/annotation_keys.hpp"

#include <algorithm>

namespace koord::state {
namespace {

constexpr std::string_view kDomains[] = {"koordinator.sh", "koordetector.sh"};
constexpr std::string_view kKeys[] = {"kubernetes.io/config.hash", "kubernetes.io/config.mirror",
                                      "kubernetes.io/config.source", "kubernetes.io/egress-bandwidth",
                                      "kubernetes.io/ingress-bandwidth"};

bool is_in(std::string_view domain, std::string_view above) {
  return domain == above || (domain.ends_with(above) && domain[domain.size() - above.size() - 1] == '.');
}

bool matches(std::string_view pattern, std::string_view key) {
  if (pattern.ends_with("/*")) return key.starts_with(pattern.substr(0, pattern.size() - 1));
  return key == pattern;
}

}  // namespace

bool AnnotationKeys::contains(std::string_view key) const {
  const std::string_view domain = key.substr(0, std::min(key.find('/'), key.size()));
  const bool is_known =
      domain.size() < key.size() &&
      std::any_of(std::begin(kDomains), std::end(kDomains), [&](std::string_view one) { return is_in(domain, one); });
  return is_known || std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys) ||
         std::any_of(more_.begin(), more_.end(), [key](const std::string& pattern) { return matches(pattern, key); });
}

void AnnotationFilter::set(AnnotationKeys keys) {
  auto shared = std::make_shared<const AnnotationKeys>(std::move(keys));
  std::lock_guard lock(mutex_);
  keys_ = std::move(shared);
}

AnnotationFilter::KeysPtr AnnotationFilter::keys() const {
  std::lock_guard lock(mutex_);
  return keys_;
}

}  // namespace koord::state
