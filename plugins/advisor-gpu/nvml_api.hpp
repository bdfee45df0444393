// SPDX-License-Identifier: Apache-2.0
// The used part of NVML's C interface, according to NVIDIA's API reference. Declared by hand, so the build needs
// neither its header nor its library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace koord::gpu::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kLibraryNotFound = 12;
inline constexpr Return kLibraryAndDriverDiffer = 18;

inline constexpr std::uint64_t kNotAvailable = UINT64_MAX;  // value of a process's memory

using Device = struct DeviceHandle*;

struct Memory {
  unsigned long long total, free, used;  // bytes
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];  // "00000000:3B:00.0"
};

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct ProcessSample {
  unsigned pid;
  unsigned long long time_stamp;          // µs
  unsigned sm, memory, encoder, decoder;  // percent
};

// The start of an element of the process lists. The rest differs between drivers; see process_list.hpp.
struct ProcessHead {
  unsigned pid;
  unsigned long long used_memory;  // bytes, or kNotAvailable
};

static_assert(sizeof(Memory) == 24 && sizeof(PciInfo) == 68 && sizeof(Utilization) == 8);
static_assert(sizeof(ProcessSample) == 32 && sizeof(ProcessHead) == 16);

using Init = Return();
using Shutdown = Return();
using ErrorString = const char*(Return);
using GetCount = Return(unsigned* count);
using GetHandleByIndex = Return(unsigned index, Device*);
using GetUuid = Return(Device, char* text, unsigned length);
using GetMinorNumber = Return(Device, unsigned* minor);
using GetMemoryInfo = Return(Device, Memory*);
using GetPciInfo = Return(Device, PciInfo*);
using GetUtilizationRates = Return(Device, Utilization*);
using GetProcessUtilization = Return(Device, ProcessSample*, unsigned* count, unsigned long long since);
using GetRunningProcesses = Return(Device, unsigned* count, void* processes);

}  // namespace koord::gpu::nvml
