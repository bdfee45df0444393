// SPDX-License-Identifier: Apache-2.0
#include "core/child/launch_spec.hpp"

#include <string_view>

namespace koord::child {
namespace {

void pack_paths(Packer& out, const std::vector<std::string>& paths) {
  out.add(static_cast<std::uint32_t>(paths.size()));
  for (const std::string& path : paths) out.add(std::string_view(path));
}

std::vector<std::string> unpack_paths(Unpacker& in) {
  std::vector<std::string> paths(in.count(sizeof(std::uint64_t)));
  for (std::string& path : paths) path = in.text();
  return paths;
}

}  // namespace

void LaunchSpec::pack(Packer& out) const {
  out.add(capabilities)
      .add(network)
      .add(uid)
      .add(landlock_abi)
      .add(memory_bytes)
      .add(processes)
      .add(file_bytes)
      .add(std::string_view(state_directory));
  pack_paths(out, readable);
  pack_paths(out, writable);
}

LaunchSpec LaunchSpec::unpack(Unpacker& in) {
  LaunchSpec spec;
  spec.capabilities = in.number<CapabilityMask>();
  spec.network = in.number<NetworkMask>();
  spec.uid = in.number<std::uint32_t>();
  spec.landlock_abi = in.number<std::uint32_t>();
  spec.memory_bytes = in.number<std::uint64_t>();
  spec.processes = in.number<std::uint64_t>();
  spec.file_bytes = in.number<std::uint64_t>();
  spec.state_directory = in.text();
  spec.readable = unpack_paths(in);
  spec.writable = unpack_paths(in);
  return spec;
}

}  // namespace koord::child
