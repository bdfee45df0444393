// SPDX-License-Identifier: Apache-2.0
// Proposals of strategies and hooks: a knob or a field on the first line, then its value. An accepted value must be
// readable in the form that is written to the kernel.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/host/hook_fields.hpp"
#include "core/host/hook_paths.hpp"
#include "core/knob/knob.hpp"

using namespace koord;

namespace {

void round_trip(const knob::Knob& knob, const knob::Value& value, cgroup::Version version) {
  if (files_of(knob, version).empty()) return;
  if (!decode(knob, encode(knob, value, version), version)) std::abort();
}

bool leads_elsewhere(std::string_view path) {
  return !path.starts_with('/') || path.find_first_of(std::string_view(" \n\0", 3)) != std::string_view::npos ||
         path.find("//") != std::string_view::npos || path.find("/../") != std::string_view::npos ||
         path.ends_with("/..");
}

// Checks that a device is below /dev, and that no path leaves its folder.
void check_paths(std::string_view field, std::string_view value) {
  if (field.starts_with(host::kDeviceField)) {
    const Result<host::HookDevice> device = host::parse_hook_device(field, value);
    if (device && (!device->path.starts_with("/dev/") || leads_elsewhere(device->path) || device->mode > 0777))
      std::abort();
  }
  if (field.starts_with(host::kMountField)) {
    const Result<host::HookMount> mount = host::parse_hook_mount(field, value);
    if (mount && (leads_elsewhere(mount->target) || leads_elsewhere(mount->source))) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const std::string_view name = text.substr(0, end), value = text.substr(end + 1);
  static_cast<void>(host::check_hook_field(name, value));
  check_paths(name, value);
  const knob::Knob* knob = knob::find_knob(name);
  if (!knob) return 0;
  for (cgroup::Version version : {cgroup::Version::v1, cgroup::Version::v2}) {
    knob::Texts texts(files_of(*knob, version).size(), std::string(value));
    static_cast<void>(decode(*knob, texts, version));
    if (Result<knob::Value> parsed = parse_value(*knob, value)) round_trip(*knob, *parsed, version);
  }
  return 0;
}
