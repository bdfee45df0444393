// SPDX-License-Identifier: Apache-2.0
// koord.cgroup/1: typed values of cgroup files, read once per tick for all plugins.
#include <vector>

#include "core/host/arguments.hpp"
#include "core/host/serve.hpp"
#include "core/host/services.hpp"

namespace koord::host {
namespace {

static_assert(cgroup::kAbsent == KOORD_ABSENT);

koord_status open(const koord_host* host, koord_str cgroup_dir, koord_str file, const koord_str* keys,
                  std::uint32_t n_keys, std::uint64_t* handle) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(handle, "handle"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    const std::string_view name = TRY(name_argument(file, "file"));
    if (n_keys == 0) return invalid("n_keys is 0, expected the keys that are wanted");
    const Array<koord_str> array = TRY(array_argument(keys, n_keys, sizeof(koord_str), "keys"));
    std::vector<std::string_view> wanted;
    for (std::uint32_t i = 0; i < array.size(); ++i) {
      std::string_view key = TRY(name_argument(array[i], "a key"));
      wanted.push_back(key);
    }
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

}  // namespace koord::host
