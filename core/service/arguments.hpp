// SPDX-License-Identifier: Apache-2.0
// Checks of a plugin's arguments to a service, and copies into its buffers. The error of a check contains the
// argument's name. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/metric/labels.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

// No text that a plugin passes is longer; a length beyond it was never set.
inline constexpr std::uint64_t kMaxTextBytes = 1 << 20;
inline constexpr std::uint64_t kMaxNameBytes = 4096;  // and a sentence's, a label's value
inline constexpr std::uint32_t kMaxArrayLength = 1 << 18;
inline constexpr std::uint32_t kMaxLabels = 64;  // of one record

inline koord_str to_abi(std::string_view text) { return {text.data(), text.size()}; }

// Borrowed for the call; empty is fine.
Result<std::string_view> text_argument(koord_str text, const char* what);
// The same, and neither empty nor with a NUL in it.
Result<std::string_view> name_argument(koord_str text, const char* what);
// A name that people read: UTF-8.
Result<std::string> sentence_argument(koord_str text, const char* what);

Result<void> pointer_argument(const void* pointer, const char* what);

// An array of records that a newer plugin may have made larger: stepped by its stride.
template <class Element>
class Array {
 public:
  Array(const Element* first, std::uint32_t n, std::uint32_t stride)
      : first_(reinterpret_cast<const unsigned char*>(first)), n_(n), stride_(stride) {}
  std::uint32_t size() const { return n_; }
  std::uint32_t stride() const { return stride_; }
  // Where the i-th begins; it may be shorter than an Element when the element is a growable record.
  const void* at(std::uint32_t i) const { return first_ + std::size_t{i} * stride_; }
  // A frozen one.
  Element operator[](std::uint32_t i) const {
    Element element;
    std::memcpy(&element, at(i), sizeof element);
    return element;
  }

 private:
  const unsigned char* first_;
  std::uint32_t n_, stride_;
};

Result<void> check_array(const void* first, std::uint32_t n, std::uint32_t stride, std::uint32_t least_stride,
                         const char* what);

// An array of frozen records.
template <class Element>
Result<Array<Element>> array_argument(const Element* first, std::uint32_t n, std::uint32_t stride, const char* what) {
  Result<void> checked = check_array(first, n, stride, sizeof(Element), what);
  if (!checked) return std::move(checked).error();
  return Array<Element>(first, n, stride);
}

// An array of growable records; take_record() each. Those of an older plugin are shorter than ours.
template <class Element>
Result<Array<Element>> records_argument(const Element* first, std::uint32_t n, std::uint32_t stride, const char* what) {
  Result<void> checked = check_array(first, n, stride, sizeof(std::uint32_t), what);
  if (!checked) return std::move(checked).error();
  return Array<Element>(first, n, stride);
}

// Copies: labels live longer than the call.
Result<metric::Labels> labels_argument(const koord_label* labels, std::uint32_t n, std::uint32_t stride);
// The values that an intent is based on, for people to read.
Result<metric::Labels> inputs_argument(const koord_label* inputs, std::uint32_t n, std::uint32_t stride);

// A cgroup relative to the hierarchy's root that does not lead out of it; empty is the root.
Result<std::string_view> cgroup_argument(koord_str cgroup_dir);

// Stores an answer of `size` bytes by the rule of the ABI: *need always, the bytes only when all fit.
koord_status answer(const void* data, std::uint64_t size, void* buf, std::uint64_t cap, std::uint64_t* need);
inline koord_status answer(std::string_view text, void* buf, std::uint64_t cap, std::uint64_t* need) {
  return answer(text.data(), text.size(), buf, cap, need);
}
inline constexpr std::size_t kMaxPlan = 10'000;         // intents of one evaluate()
inline constexpr std::size_t kMaxPlanBytes = 4u << 20;  // of their texts

// For koord.kv/1 set(), koord.cgroup/1 open(), koord.knobs/1 propose(), koord.metrics/1 append_histograms(): the same
// on both sides of a channel.
Result<void> kv_value_argument(const void* buf, std::uint64_t n);
Result<std::vector<std::string_view>> cgroup_keys_argument(const koord_str* keys, std::uint32_t n);
Result<void> plan_argument(std::uint64_t n_intents, std::uint64_t text_bytes);
Result<Array<koord_histogram>> histograms_argument(const koord_histogram* histograms, std::uint32_t n,
                                                   std::uint32_t stride);

// Checks the caller's buffer before there is an answer: `buf` may be NULL only when cap is 0.
Result<void> buffer_argument(const void* buf, std::uint64_t cap, const void* need);

}  // namespace koord::service
