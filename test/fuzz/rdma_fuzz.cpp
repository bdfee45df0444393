// SPDX-License-Identifier: Apache-2.0
// Device names, paths and counters in sysfs, and the JSON made from them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/advisor-rdma/rdma.hpp"
#include "test/fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::rdma;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto number = number_of_mlx(text)) check(*number >= 0);
  if (const auto number = number_of_verbs(text)) check(*number >= 0);
  const std::string_view root = pci_root(text);
  check(root.empty() || text.find(root) != std::string_view::npos);
  if (is_pci_address(text)) check(size >= 9);
  if (is_active(text)) check(!parse_counter(text));
  check(!devices_json({{.pci_address = std::string(text), .names = {std::string(text)}}}).empty());
  return 0;
}
