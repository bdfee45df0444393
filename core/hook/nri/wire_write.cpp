// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/hook/nri/wire.hpp"

namespace koord::nri {
namespace {

void write(Writer& out, const Resources& resources) {
  out.message_unless_empty(1, [&](Writer& memory) {
    memory.wrapped(1, resources.memory_limit_bytes);
    memory.wrapped(3, resources.memory_swap_bytes);
  });
  out.message_unless_empty(2, [&](Writer& cpu) {
    cpu.wrapped(1, resources.cpu_shares);
    cpu.wrapped(2, resources.cpu_quota_us);
    cpu.wrapped(3, resources.cpu_period_us);
    cpu.text(6, resources.cpus);
    cpu.text(7, resources.mems);
  });
  out.wrapped(5, resources.rdt_class);
  out.map(6, resources.unified);
}

void write(Writer& out, const Mount& mount) {
  out.text(1, mount.destination);
  out.text(2, mount.type);
  out.text(3, mount.source);
  out.texts(4, mount.options);
}

void write(Writer& out, const Device& device) {
  out.text(1, device.path);
  out.text(2, device.type);
  out.number(3, static_cast<std::uint64_t>(device.major));
  out.number(4, static_cast<std::uint64_t>(device.minor));
  out.wrapped(5, device.file_mode);
  out.wrapped(6, device.uid);
  out.wrapped(7, device.gid);
}

void write(Writer& out, const Adjustment& adjustment) {
  out.map(2, adjustment.annotations);
  for (const Mount& mount : adjustment.mounts) out.message(3, [&](Writer& inner) { write(inner, mount); });
  for (const auto& each : adjustment.env) {
    out.message(4, [&](Writer& variable) {
      variable.text(1, each.first);
      variable.text(2, each.second);
    });
  }
  out.message_unless_empty(6, [&](Writer& linux_part) {
    for (const Device& device : adjustment.devices) linux_part.message(1, [&](Writer& inner) { write(inner, device); });
    linux_part.message_unless_empty(2, [&](Writer& inner) { write(inner, adjustment.resources); });
    linux_part.wrapped(4, adjustment.oom_score_adj);
  });
}

void write(Writer& out, const Update& update) {
  out.text(1, update.container_id);
  out.message(
      2, [&](Writer& linux_part) { linux_part.message(1, [&](Writer& inner) { write(inner, update.resources); }); });
  out.boolean(3, update.ignore_failure);
}

void write(Writer& out, std::uint32_t field, const std::vector<Update>& updates) {
  for (const Update& update : updates)
    if (!update.container_id.empty()) out.message(field, [&](Writer& inner) { write(inner, update); });
}

Result<std::string> finish(Writer&& out) {
  if (!out.is_valid()) return invalid("a text is not UTF-8");
  return std::move(out).finish();
}

}  // namespace

std::string encode_register_plugin(std::string_view name, std::string_view index) {
  Writer out;
  out.text(1, name);
  out.text(2, index);
  return std::move(out).finish();
}

std::string encode_configure_answer(EventMask events) {
  Writer out;
  out.number(2, events);
  return std::move(out).finish();
}

std::string encode_more() {
  Writer out;
  out.boolean(2, true);
  return std::move(out).finish();
}

Result<std::string> encode_adjustment(const Adjustment& adjustment, const std::vector<Update>& updates) {
  Writer out;
  out.message_unless_empty(1, [&](Writer& inner) { write(inner, adjustment); });
  write(out, 2, updates);
  return finish(std::move(out));
}

Result<std::string> encode_updates(const std::vector<Update>& updates) {
  Writer out;
  write(out, 1, updates);
  return finish(std::move(out));
}

}  // namespace koord::nri
