// SPDX-License-Identifier: Apache-2.0
#include "core/load/module_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>

#include "core/load/kind_table.hpp"

namespace koord::load {
namespace {

constexpr std::uint32_t kMaxClasses = 64;
constexpr std::size_t kMaxClassName = 128;
constexpr std::size_t kMaxSchema = 1u << 20;
// The size of a table of revision /1 when it was published. has() checks for members that were added later.
constexpr std::size_t kModuleSize = sizeof(koord_module);
constexpr std::size_t kClassSize = sizeof(koord_class);

Error unlike(std::string_view what, std::string_view expected, std::string_view found) {
  return invalid(std::string(what) + ": expected " + std::string(expected) + ", found " + std::string(found));
}

Result<void> check_size(std::string_view what, std::uint64_t found, std::uint64_t least) {
  if (found >= least) return {};
  return unlike(what, "at least " + std::to_string(least) + " bytes", std::to_string(found));
}

// Returns a copy of a plugin's C string. Reads at most its maximum length.
Result<std::string> bounded_text(std::string_view what, const char* text, std::size_t max_bytes) {
  if (text == nullptr) return unlike(what, "a text", "NULL");
  std::size_t length = ::strnlen(text, max_bytes + 1);
  if (length > max_bytes) return unlike(what, "at most " + std::to_string(max_bytes) + " bytes", "more");
  return std::string(text, length);
}

Result<void> check_header(const koord_module* module) {
  if (module == nullptr) return unlike("koord_entry_v1()", "a module", "NULL");
  if (module->magic != KOORD_MAGIC) {
    return unlike("module magic", std::to_string(KOORD_MAGIC), std::to_string(module->magic));
  }
  TRY(check_size("module", module->struct_size, kModuleSize));
  if (module->abi_major != KOORD_ABI_MAJOR) {
    return unlike("module ABI", std::to_string(KOORD_ABI_MAJOR) + ".x",
                  std::to_string(module->abi_major) + "." + std::to_string(module->abi_minor));
  }
  TRY(check_size("class stride", module->class_stride, kClassSize));
  if (module->n_classes == 0 || module->n_classes > kMaxClasses || module->classes == nullptr) {
    return unlike("classes", "1 to " + std::to_string(kMaxClasses), std::to_string(module->n_classes));
  }
  return {};
}

Result<void> check_manifest(const koord_module* module, const Manifest& manifest) {
  std::string text = TRY(bounded_text("manifest of the module", module->manifest, kMaxManifestBytes));
  if (text == manifest.text) return {};
  return unlike("manifest of the module", "the text of section " KOORD_MANIFEST_SECTION, "another");
}

using Check = Result<void> (*)(const koord_lifecycle& table, ClassInfo& info);

Error missing(std::string_view function) { return unlike(function, "a function", "NULL"); }

Result<void> check_advisor(const koord_lifecycle& table, ClassInfo& info) {
  const auto& advisor = reinterpret_cast<const koord_advisor&>(table);
  info.ticks = has(&advisor, &koord_advisor::collect);
  if (!info.ticks && !info.runs) return unlike("advisor", "collect() or run()", "neither");
  return {};
}

Result<void> check_external_advisor(const koord_lifecycle& table, ClassInfo& info) {
  const auto& advisor = reinterpret_cast<const koord_external_advisor&>(table);
  info.has_targets = has(&advisor, &koord_external_advisor::targets);
  if (!info.has_targets && !has(&advisor, &koord_external_advisor::url))
    return unlike("external advisor", "url() or targets()", "neither");
  info.maps_series = has(&advisor, &koord_external_advisor::map_series);
  info.maps_metrics = has(&advisor, &koord_external_advisor::map_metric);
  info.maps_samples = has(&advisor, &koord_external_advisor::map_sample);
  return {};
}

Result<void> check_qos_strategy(const koord_lifecycle& table, ClassInfo& info) {
  const auto& strategy = reinterpret_cast<const koord_qos_strategy&>(table);
  if (!has(&strategy, &koord_qos_strategy::evaluate)) return missing("evaluate()");
  info.ticks = true;
  return {};
}

Result<void> check_runtime_hook(const koord_lifecycle& table, ClassInfo& info) {
  const auto& hook = reinterpret_cast<const koord_runtime_hook&>(table);
  if (!has(&hook, &koord_runtime_hook::handle)) return missing("handle()");
  info.stages = hook.stages;
  if (info.stages == 0) return unlike("stages", "at least one of KOORD_STAGE_*", "none");
  return {};
}

Check check_of(std::string_view kind) {
  if (kind == "koord.advisor/1") return check_advisor;
  if (kind == "koord.external-advisor/1") return check_external_advisor;
  if (kind == "koord.qos-strategy/1") return check_qos_strategy;
  if (kind == "koord.runtime-hook/1") return check_runtime_hook;
  return nullptr;
}

Result<void> check_lifecycle(const koord_lifecycle* table, ClassInfo& info) {
  if (table == nullptr) return unlike("vtable", "a table", "NULL");
  TRY(check_size("vtable", table->struct_size, sizeof(koord_lifecycle)));
  if (table->create == nullptr) return missing("create()");
  if (table->init == nullptr) return missing("init()");
  if (table->destroy == nullptr) return missing("destroy()");
  info.runs = table->run != nullptr;
  info.takes_events = table->on_event != nullptr;
  return {};
}

Result<void> check_kind(const Manifest& manifest, const ClassInfo& info) {
  if (std::find(manifest.kinds.begin(), manifest.kinds.end(), info.kind) == manifest.kinds.end()) {
    return unlike("kind", "one of the manifest's", "'" + info.kind + "'");
  }
  return {};
}

Result<ClassInfo> check_class(const koord_class& cls, const Manifest& manifest) {
  TRY(check_size("class", cls.struct_size, kClassSize));
  ClassInfo info;
  info.name = TRY(bounded_text("name of a class", cls.name, kMaxClassName));
  info.kind = TRY(bounded_text("kind", cls.kind, kMaxClassName));
  TRY(check_kind(manifest, info));
  if (cls.config_schema != nullptr) {
    info.config_schema = TRY(bounded_text("config_schema", cls.config_schema, kMaxSchema));
  }
  if (cls.period_ns > static_cast<std::uint64_t>(Duration::max().count())) {
    return unlike("period_ns", "less than 2^63", std::to_string(cls.period_ns));
  }
  info.period = Duration(static_cast<std::int64_t>(cls.period_ns));
  TRY(check_lifecycle(cls.vtable, info));
  Check check = check_of(info.kind);
  if (check == nullptr) return unlike("kind", "a known one", "'" + info.kind + "'");
  TRY(check(*cls.vtable, info));
  return info;
}

}  // namespace

const koord_class* class_of(const koord_module* module, std::size_t index) {
  const auto* first = reinterpret_cast<const std::byte*>(module->classes);
  return reinterpret_cast<const koord_class*>(first + index * module->class_stride);
}

Result<std::vector<ClassInfo>> check_module(const koord_module* module, const Manifest& manifest) {
  TRY(check_header(module));
  TRY(check_manifest(module, manifest));
  std::vector<ClassInfo> classes;
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < module->n_classes; ++i) {
    Result<ClassInfo> info = check_class(*class_of(module, i), manifest);
    if (!info) return std::move(info).error().context("class " + std::to_string(i));
    if (!names.insert(info->name).second) return unlike("class names", "each once", "'" + info->name + "' twice");
    classes.push_back(*std::move(info));
  }
  return classes;
}

}  // namespace koord::load
