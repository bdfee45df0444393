// SPDX-License-Identifier: Apache-2.0
// koord.cgroup/1: typed values of cgroup files. Each file is read once per tick for all plugins.
#include <vector>

#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

static_assert(cgroup::kAbsent == KOORD_ABSENT);

constexpr std::size_t kMaxHandles = 20'000;  // per plugin; several files for each container of the largest node

koord_status open(const koord_host* host, koord_str cgroup_dir, koord_str file, const koord_str* keys,
                  std::uint32_t n_keys, std::uint64_t* handle) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(handle, "handle"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    const std::string_view name = TRY(name_argument(file, "file"));
    const std::vector<std::string_view> wanted = TRY(cgroup_keys_argument(keys, n_keys));
    if (context.cgroup_files().open_files() >= kMaxHandles)
      return context.over_quota("cgroup handles", "it has " + std::to_string(kMaxHandles) +
                                                      " cgroup files open, as many as a plugin may have");
    *handle = TRY(context.cgroup_files().open(dir, name, wanted));
    return {};
  });
}

koord_status read(const koord_host* host, std::uint64_t handle, std::int64_t* values, std::uint32_t n,
                  std::uint64_t* read_ns) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(values, "values"));
    const Result<Time> read_at = context.cgroup_files().read(handle, {values, n});
    if (!read_at) {
      const auto& on_gone = context.shared().on_cgroup_gone;
      if (on_gone && cgroup::is_gone(read_at.error())) on_gone();
      return read_at.error();
    }
    if (read_ns) *read_ns = to_ns(*read_at);
    return {};
  });
}

void close(const koord_host* host, std::uint64_t handle) {
  serve(host, [&](PluginContext& context) {
    context.cgroup_files().close(handle);
    return KOORD_OK;
  });
}

}  // namespace

const koord_svc_cgroup cgroup_service = {sizeof cgroup_service, 0, open, read, close};

}  // namespace koord::service
