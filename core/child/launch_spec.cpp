// SPDX-License-Identifier: Apache-2.0
#include "core/child/launch_spec.hpp"

#include "core/child/record_wire.hpp"

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
  add_members(out, *this);
  pack_paths(out, readable);
  pack_paths(out, writable);
}

LaunchSpec LaunchSpec::unpack(Unpacker& in) {
  LaunchSpec spec;
  take_members(in, spec);
  spec.readable = unpack_paths(in);
  spec.writable = unpack_paths(in);
  return spec;
}

}  // namespace koord::child
