// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/device/device_allocation.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::device {
namespace {

constexpr std::int64_t kMostMinor = (1 << 20) - 1;  // limit of the kernel's dev_t

bool is_hexadecimal(char digit) {
  return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
}

Result<std::vector<std::string>> virtual_functions_in(const JsonField& list) {
  std::vector<std::string> addresses;
  for (const JsonField& entry : TRY(list.list())) {
    const JsonField address = entry["busID"];
    addresses.push_back(TRY(address.required_text()));
    if (!is_pci_address(addresses.back())) return address.wrong("expected a PCI address such as 0000:3b:00.0");
    if (addresses.size() > kMostDevices) return list.wrong("expected at most 1024 entries");
  }
  return addresses;
}

Result<Device> device_in(const JsonField& entry) {
  Device device;
  if (entry["minor"].empty()) return entry["minor"].wrong("expected a number");
  device.minor = TRY(entry["minor"].integer(0));
  if (device.minor < 0 || device.minor > kMostMinor) return entry["minor"].wrong("expected a number from 0 to 1048575");
  device.id = TRY(entry["id"].text());
  device.resources = TRY(entry["resources"].resources());
  device.virtual_functions = TRY(virtual_functions_in(entry["extension"]["vfs"]));
  return device;
}

Result<std::vector<Device>> read_allocation(std::string_view annotation, std::string_view type) {
  std::vector<Device> devices;
  if (annotation.empty()) return devices;
  const boost::json::value document = TRY(read_json(annotation));
  const JsonField object(document);
  TRY(object.check_mapping());
  const JsonField list = object[type];
  for (const JsonField& entry : TRY(list.list())) {
    devices.push_back(TRY(device_in(entry)));
    if (devices.size() > kMostDevices) return list.wrong("expected at most 1024 entries");
  }
  return devices;
}

}  // namespace

Result<std::vector<Device>> parse_allocation(std::string_view annotation, std::string_view type) {
  Result<std::vector<Device>> devices = read_allocation(annotation, type);
  if (!devices) return std::move(devices).error().context(kAnnotation);
  return devices;
}

bool is_pci_address(std::string_view text) {
  constexpr std::string_view kForm = "xxxx:xx:xx.x";
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char byte, char form) {
           return form == 'x' ? is_hexadecimal(byte) : byte == form;
         });
}

}  // namespace koord::device
