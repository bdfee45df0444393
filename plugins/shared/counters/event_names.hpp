// SPDX-License-Identifier: Apache-2.0
// EventNames converts event names in the spelling of libpfm4 ("PERF_COUNT_HW_CPU_CYCLES", "INST_RETIRED:ANY_P:u") to
// the kernel's codes. libpfm4 is loaded only while this object exists, because its tables take a megabyte. A process
// may have one object at a time. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.hpp"

namespace koord::performance {

// The members of perf_event_attr that libpfm4 sets.
struct EventCode {
  std::string name;  // the configured name
  std::uint32_t type = 0;
  std::uint64_t config = 0, config1 = 0, config2 = 0;
  bool exclude_user = false, exclude_kernel = false, exclude_hypervisor = false, exclude_guest = false,
       exclude_host = false;
};

class EventNames {
 public:
  // Fails if the library is missing (std::errc::no_such_file_or_directory) or its initialization fails.
  static Result<std::unique_ptr<EventNames>> load();
  ~EventNames();
  EventNames(const EventNames&) = delete;
  EventNames& operator=(const EventNames&) = delete;

  // Returns the code of an event. It counts in user and kernel mode unless the name says otherwise. An error has
  // libpfm4's message about the name.
  Result<EventCode> encode(const std::string& name) const;

 private:
  struct Library;
  explicit EventNames(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace koord::performance
