// SPDX-License-Identifier: Apache-2.0
#include "core/service/arguments.hpp"

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/service/status.hpp"

namespace koord::service {

Result<std::string_view> text_argument(koord_str text, const char* what) {
  if (text.n == 0) return std::string_view();
  if (!text.p) return invalid(std::string(what) + " is NULL with a length of " + std::to_string(text.n));
  if (text.n > kMaxTextBytes)
    return invalid(std::string(what) + " is " + std::to_string(text.n) + " bytes long, expected at most " +
                   std::to_string(kMaxTextBytes));
  return std::string_view(text.p, static_cast<std::size_t>(text.n));
}

Result<std::string_view> name_argument(koord_str text, const char* what) {
  std::string_view name = TRY(text_argument(text, what));
  if (name.empty()) return invalid(std::string(what) + " is empty");
  if (name.size() > kMaxNameBytes)
    return invalid(std::string(what) + " is " + std::to_string(name.size()) + " bytes long, expected at most " +
                   std::to_string(kMaxNameBytes));
  if (name.find('\0') != std::string_view::npos) return invalid(std::string(what) + " has a NUL in it");
  return name;
}

Result<std::string> sentence_argument(koord_str text, const char* what) {
  const std::string_view sentence = TRY(name_argument(text, what));
  if (!is_valid_utf8(sentence)) return invalid(std::string(what) + " is not UTF-8");
  return std::string(sentence);
}

Result<void> pointer_argument(const void* pointer, const char* what) {
  if (!pointer) return invalid(std::string(what) + " is NULL");
  return {};
}

Result<void> check_array(const void* first, std::uint32_t n, std::uint32_t stride, std::uint32_t least_stride,
                         const char* what) {
  if (n == 0) return {};
  if (!first) return invalid(std::string(what) + " is NULL with a count of " + std::to_string(n));
  if (n > kMaxArrayLength)
    return invalid(std::string(what) + ": count is " + std::to_string(n) + ", expected at most " +
                   std::to_string(kMaxArrayLength));
  if (stride < least_stride)
    return invalid(std::string(what) + ": stride is " + std::to_string(stride) + ", expected at least " +
                   std::to_string(least_stride));
  return {};
}

Result<metric::Labels> labels_argument(const koord_label* labels, std::uint32_t n, std::uint32_t stride) {
  Array<koord_label> array = TRY(array_argument(labels, n, stride, "labels"));
  if (n > kMaxLabels)
    return invalid("labels: " + std::to_string(n) + " of them, expected at most " + std::to_string(kMaxLabels));
  metric::Labels copies;
  copies.reserve(array.size());
  for (std::uint32_t i = 0; i < array.size(); ++i) {
    const koord_label label = array[i];
    std::string_view key = TRY(name_argument(label.key, "a label's key"));
    std::string_view value = TRY(text_argument(label.value, "a label's value"));
    if (value.size() > kMaxNameBytes)
      return invalid("a label's value is " + std::to_string(value.size()) + " bytes long, expected at most " +
                     std::to_string(kMaxNameBytes));
    copies.emplace_back(key, value);
  }
  return copies;
}

Result<metric::Labels> inputs_argument(const koord_label* inputs, std::uint32_t n, std::uint32_t stride) {
  metric::Labels taken = TRY(labels_argument(inputs, n, stride));
  for (const auto& [name, value] : taken)
    if (!is_valid_utf8(name) || !is_valid_utf8(value)) return invalid("an input is not UTF-8");
  return taken;
}

Result<std::string_view> cgroup_argument(koord_str cgroup_dir) {
  std::string_view dir = TRY(text_argument(cgroup_dir, "cgroup_dir"));
  if (dir.starts_with('/') || dir.find('\0') != std::string_view::npos)
    return invalid("cgroup_dir is '" + std::string(dir) + "', expected a path relative to the hierarchy's root");
  std::string_view rest = dir;
  while (auto component = next_field(rest, '/')) {
    if (*component == "..")
      return invalid("cgroup_dir is '" + std::string(dir) + "', which leads out of the hierarchy");
  }
  return dir;
}

Result<void> kv_value_argument(const void* buf, std::uint64_t n) {
  if (n > 0) TRY(pointer_argument(buf, "buf"));
  if (n <= kMaxTextBytes) return {};
  return invalid("the value is " + std::to_string(n) + " bytes long, expected at most " +
                 std::to_string(kMaxTextBytes));
}

Result<std::vector<std::string_view>> cgroup_keys_argument(const koord_str* keys, std::uint32_t n) {
  constexpr std::uint32_t kMostKeys = 256;
  if (n == 0) return invalid("n_keys is 0, expected the keys that are wanted");
  if (n > kMostKeys)
    return invalid("n_keys is " + std::to_string(n) + ", expected at most " + std::to_string(kMostKeys));
  const Array<koord_str> array = TRY(array_argument(keys, n, sizeof(koord_str), "keys"));
  std::vector<std::string_view> wanted;
  for (std::uint32_t i = 0; i < array.size(); ++i) {
    std::string_view key = TRY(name_argument(array[i], "a key"));
    wanted.push_back(key);
  }
  return wanted;
}

Result<void> plan_argument(std::uint64_t n_intents, std::uint64_t text_bytes) {
  if (n_intents > kMaxPlan)
    return refuse(KOORD_E_AGAIN, "the plan has more than " + std::to_string(kMaxPlan) + " intents");
  if (text_bytes <= kMaxPlanBytes) return {};
  return refuse(KOORD_E_AGAIN, "the texts of the plan have more than " + std::to_string(kMaxPlanBytes) + " bytes");
}

Result<Array<koord_histogram>> histograms_argument(const koord_histogram* histograms, std::uint32_t n,
                                                   std::uint32_t stride) {
  const auto array = TRY(array_argument(histograms, n, stride, "histograms"));
  std::uint64_t counts = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const koord_histogram histogram = array[i];
    TRY(check_array(histogram.cumulative, histogram.n, sizeof(std::uint64_t), sizeof(std::uint64_t), "cumulative"));
    counts += 4 + histogram.n;  // counts the series id and the sum, too
  }
  if (counts <= kMaxArrayLength) return array;
  return invalid("histograms: " + std::to_string(n) + " of them with too many counts, expected less than " +
                 std::to_string(kMaxArrayLength) + " numbers in all");
}

koord_status answer(const void* data, std::uint64_t size, void* buf, std::uint64_t cap, std::uint64_t* need) {
  *need = size;
  if (size > cap) return KOORD_E_TOO_SMALL;
  if (size > 0) std::memcpy(buf, data, static_cast<std::size_t>(size));
  return KOORD_OK;
}

Result<void> buffer_argument(const void* buf, std::uint64_t cap, const void* need) {
  if (!need) return invalid("need is NULL");
  if (!buf && cap > 0) return invalid("buf is NULL with a capacity of " + std::to_string(cap));
  return {};
}

}  // namespace koord::service
