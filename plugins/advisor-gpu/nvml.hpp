// SPDX-License-Identifier: Apache-2.0
// Nvml: the driver's library, loaded and initialized by open(). The destructor releases everything, so the driver can
// be unloaded. Every call may block while the driver blocks. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/advisor-gpu/process_list.hpp"

namespace koord::gpu {

struct DeviceInfo {
  std::string uuid;
  std::uint32_t minor = 0;
  std::string bus_id;  // format of sysfs: "0000:3b:00.0"
  std::uint64_t memory_total_bytes = 0;
};

// Share of the device's multiprocessors that a process used during the driver's last sampling.
struct ProcessSample {
  std::uint32_t pid = 0;
  std::uint64_t time_stamp_us = 0;
  double sm_percent = 0;
};

class Nvml {
 public:
  // Fails with std::errc::no_such_file_or_directory if the library is missing or has no driver.
  static Result<std::unique_ptr<Nvml>> open(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Devices are identified by index, 0 to device_count() - 1, until the next open(). The code of an error is NVML's
  // number.
  Result<unsigned> device_count() const;
  Result<DeviceInfo> describe(unsigned device) const;
  Result<std::vector<Process>> processes(unsigned device) const;
  // Returns samples taken after `since_us`; an idle process has none. nullopt: the device has no values by process.
  Result<std::optional<std::vector<ProcessSample>>> samples(unsigned device, std::uint64_t since_us) const;
  Result<std::optional<double>> utilization_percent(unsigned device) const;
  Result<std::uint64_t> memory_used_bytes(unsigned device) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

// Returns whether the error concerns the whole library or driver. If so, devices must be searched again.
bool is_of_the_driver(const Error& error);

}  // namespace koord::gpu
