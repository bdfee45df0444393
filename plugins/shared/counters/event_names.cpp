// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/event_names.hpp"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>
#include <utility>

namespace koord::performance {
namespace {

constexpr const char* kLibrary = "libpfm.so.4";

struct Unload {
  void operator()(void* library) const { ::dlclose(library); }
};

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct EventNames::Library {
  std::unique_ptr<void, Unload> handle;
  decltype(pfm_initialize)* initialize = nullptr;
  decltype(pfm_terminate)* terminate = nullptr;
  decltype(pfm_strerror)* describe = nullptr;
  decltype(pfm_get_os_event_encoding)* encode = nullptr;
};

Result<std::unique_ptr<EventNames>> EventNames::load() {
  auto library = std::make_unique<Library>();
  library->handle.reset(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL));
  void* handle = library->handle.get();
  if (!handle) return not_found("cannot load libpfm4: " + std::string(::dlerror()));
  if (!find(handle, "pfm_initialize", library->initialize) || !find(handle, "pfm_terminate", library->terminate) ||
      !find(handle, "pfm_strerror", library->describe) || !find(handle, "pfm_get_os_event_encoding", library->encode))
    return invalid(std::string(kLibrary) + " misses a function of libpfm4: " + ::dlerror());
  if (const int status = library->initialize(); status != PFM_SUCCESS)
    return invalid("libpfm4 does not start: " + std::string(library->describe(status)));
  return std::unique_ptr<EventNames>(new EventNames(std::move(library)));
}

EventNames::EventNames(std::unique_ptr<Library> library) : library_(std::move(library)) {}

EventNames::~EventNames() { library_->terminate(); }

Result<EventCode> EventNames::encode(const std::string& name) const {
  perf_event_attr attr = {};
  pfm_perf_encode_arg_t argument = {};
  argument.size = sizeof argument;
  argument.attr = &attr;
  const int status = library_->encode(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
  if (status != PFM_SUCCESS)
    return invalid("'" + name + "' is not an event that libpfm4 knows here: " + library_->describe(status));
  return EventCode{.name = name,
                   .type = attr.type,
                   .config = attr.config,
                   .config1 = attr.config1,
                   .config2 = attr.config2,
                   .exclude_user = attr.exclude_user != 0,
                   .exclude_kernel = attr.exclude_kernel != 0,
                   .exclude_hypervisor = attr.exclude_hv != 0,
                   .exclude_guest = attr.exclude_guest != 0,
                   .exclude_host = attr.exclude_host != 0};
}

}  // namespace koord::performance
