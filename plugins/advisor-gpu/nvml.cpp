// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "plugins/advisor-gpu/device_facts.hpp"
#include "plugins/advisor-gpu/nvml_api.hpp"

namespace koord::gpu {
namespace {

// Extra elements, because a list may grow between the query of its length and the query of the list.
constexpr unsigned kSpare = 8;
constexpr int kAttempts = 3;
constexpr unsigned kMostProcesses = 65536;

struct Unload {
  void operator()(void* library) const { ::dlclose(library); }
};

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "nvml"; }
  std::string message(int code) const override { return "NVML error " + std::to_string(code); }
};

const std::error_category& nvml_category() {
  static const Category category;
  return category;
}

std::string why_not_loaded() {
  const char* text = ::dlerror();
  return text ? text : "unknown error";
}

}  // namespace

struct Nvml::Library {
  std::unique_ptr<void, Unload> handle;
  nvml::Init* init = nullptr;
  nvml::Shutdown* shutdown = nullptr;
  nvml::ErrorString* error_string = nullptr;
  nvml::GetCount* count = nullptr;
  nvml::GetHandleByIndex* by_index = nullptr;
  nvml::GetUuid* uuid = nullptr;
  nvml::GetMinorNumber* minor = nullptr;
  nvml::GetMemoryInfo* memory = nullptr;
  nvml::GetPciInfo* pci = nullptr;
  nvml::GetRunningProcesses* processes = nullptr;
  nvml::GetUtilizationRates* utilization = nullptr;        // may be missing
  nvml::GetProcessUtilization* process_samples = nullptr;  // may be missing

  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(handle.get(), name));
    return function != nullptr;
  }

  Result<void> find_all() {
    const auto need = [this](auto*& function, const char* name) -> Result<void> {
      if (find(function, name)) return {};
      return invalid(std::string("the library misses the function ") + name);
    };
    TRY(need(init, "nvmlInit_v2"));
    TRY(need(shutdown, "nvmlShutdown"));
    TRY(need(error_string, "nvmlErrorString"));
    TRY(need(count, "nvmlDeviceGetCount_v2"));
    TRY(need(by_index, "nvmlDeviceGetHandleByIndex_v2"));
    TRY(need(uuid, "nvmlDeviceGetUUID"));
    TRY(need(minor, "nvmlDeviceGetMinorNumber"));
    TRY(need(memory, "nvmlDeviceGetMemoryInfo"));
    TRY(need(pci, "nvmlDeviceGetPciInfo_v3"));
    // _v3 has the same elements as _v2; the first version has different elements.
    if (!find(processes, "nvmlDeviceGetComputeRunningProcesses_v2") &&
        !find(processes, "nvmlDeviceGetComputeRunningProcesses_v3"))
      TRY(need(processes, "nvmlDeviceGetComputeRunningProcesses"));
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(process_samples, "nvmlDeviceGetProcessUtilization");
    return {};
  }

  Error failed(const char* what, nvml::Return status) const {
    const char* text = error_string(status);
    return {std::error_code(status, nvml_category()), std::string(what) + ": " + (text ? text : "unknown")};
  }
  Result<nvml::Device> device(unsigned index) const {
    nvml::Device found = nullptr;
    const nvml::Return status = by_index(index, &found);
    if (status != nvml::kSuccess) return failed("getting the device", status);
    return found;
  }
};

Result<std::unique_ptr<Nvml>> Nvml::open(const std::string& path) {
  auto library = std::make_unique<Library>();
  library->handle.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library->handle) {
    const std::string why = why_not_loaded();
    const bool missing = why.find("cannot open shared object file") != std::string::npos;
    return missing ? not_found(why) : invalid("cannot load '" + path + "': " + why);
  }
  TRY(library->find_all());
  const nvml::Return status = library->init();
  if (status == nvml::kSuccess) return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
  Error error = library->failed("nvmlInit_v2", status);
  if (status == nvml::kDriverNotLoaded || status == nvml::kLibraryNotFound) return not_found(error.message());
  return error;
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() { library_->shutdown(); }

Result<unsigned> Nvml::device_count() const {
  unsigned count = 0;
  const nvml::Return status = library_->count(&count);
  if (status != nvml::kSuccess) return library_->failed("counting devices", status);
  return count;
}

Result<DeviceInfo> Nvml::describe(unsigned index) const {
  const nvml::Device device = TRY(library_->device(index));
  DeviceInfo info;
  std::array<char, 96> uuid = {};
  nvml::Return status = library_->uuid(device, uuid.data(), uuid.size() - 1);
  if (status == nvml::kSuccess) status = library_->minor(device, &info.minor);
  nvml::PciInfo pci = {};
  if (status == nvml::kSuccess) status = library_->pci(device, &pci);
  nvml::Memory memory = {};
  if (status == nvml::kSuccess) status = library_->memory(device, &memory);
  if (status != nvml::kSuccess) return library_->failed("describing the device", status);
  info.uuid = uuid.data();
  pci.bus_id[sizeof pci.bus_id - 1] = '\0';
  info.bus_id = sysfs_bus_id(pci.bus_id);
  info.memory_total_bytes = memory.total;
  return info;
}

Result<std::vector<Process>> Nvml::processes(unsigned index) const {
  const nvml::Device device = TRY(library_->device(index));
  nvml::Return status = nvml::kInsufficientSize;
  unsigned room = kSpare;
  for (int attempt = 0; attempt < kAttempts && status == nvml::kInsufficientSize; ++attempt) {
    std::vector<std::byte> buffer(room * kLongestElement, kUntouched);
    unsigned count = room;
    status = library_->processes(device, &count, buffer.data());
    if (status == nvml::kSuccess) {
      if (count <= room)
        if (auto processes = decode_processes(buffer, count)) return std::move(*processes);
      return invalid("the list of " + std::to_string(count) + " processes has elements of an unknown length");
    }
    room = std::min(count, kMostProcesses) + kSpare;
  }
  return library_->failed("listing processes", status);
}

Result<std::optional<std::vector<ProcessSample>>> Nvml::samples(unsigned index, std::uint64_t since_us) const {
  using Samples = std::optional<std::vector<ProcessSample>>;
  if (!library_->process_samples) return Samples();
  const nvml::Device device = TRY(library_->device(index));
  unsigned count = 0;
  nvml::Return status = library_->process_samples(device, nullptr, &count, since_us);
  std::vector<nvml::ProcessSample> found;
  for (int attempt = 0; attempt < kAttempts && status == nvml::kInsufficientSize; ++attempt) {
    found.resize(std::min(count, kMostProcesses) + kSpare);
    count = static_cast<unsigned>(found.size());
    status = library_->process_samples(device, found.data(), &count, since_us);
  }
  if (status == nvml::kNotSupported) return Samples();
  if (status == nvml::kNotFound) return Samples(std::in_place);
  if (status != nvml::kSuccess) return library_->failed("reading the utilisation of processes", status);
  Samples samples(std::in_place);
  found.resize(std::min<std::size_t>(found.size(), count));
  for (const nvml::ProcessSample& sample : found)
    samples->push_back({sample.pid, sample.time_stamp, static_cast<double>(sample.sm)});
  return samples;
}

Result<std::optional<double>> Nvml::utilization_percent(unsigned index) const {
  using Percent = std::optional<double>;
  if (!library_->utilization) return Percent();
  const nvml::Device device = TRY(library_->device(index));
  nvml::Utilization rates = {};
  const nvml::Return status = library_->utilization(device, &rates);
  if (status == nvml::kNotSupported) return Percent();
  if (status != nvml::kSuccess) return library_->failed("reading the utilisation", status);
  return Percent(rates.gpu);
}

Result<std::uint64_t> Nvml::memory_used_bytes(unsigned index) const {
  const nvml::Device device = TRY(library_->device(index));
  nvml::Memory memory = {};
  const nvml::Return status = library_->memory(device, &memory);
  if (status != nvml::kSuccess) return library_->failed("reading the memory", status);
  return memory.used;
}

bool is_of_the_driver(const Error& error) {
  const auto is = [&](nvml::Return status) { return error.code == std::error_code(status, nvml_category()); };
  return is(nvml::kUninitialized) || is(nvml::kDriverNotLoaded) || is(nvml::kLibraryAndDriverDiffer);
}

}  // namespace koord::gpu
