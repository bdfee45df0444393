// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/loading.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/program.hpp"
#include "core/child/child_runner.hpp"
#include "core/host/in_process_runner.hpp"
#include "core/host/isolation.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/grants.hpp"
#include "core/load/module_check.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::workshop {
namespace {

class LinkedPlugin final : public host::LoadedPlugin {
 public:
  LinkedPlugin(const koord_module* module, std::vector<load::ClassInfo> classes)
      : module_(module), classes_(std::move(classes)) {}

  const std::vector<load::ClassInfo>& classes() const override { return classes_; }
  std::unique_ptr<host::Runner> make_runner(std::size_t index, service::PluginContext& context,
                                            const host::RunnerLimits& /*limits*/) const override {
    return host::make_in_process_runner(*load::class_of(module_, index), classes_[index], context);
  }

 private:
  const koord_module* module_;
  std::vector<load::ClassInfo> classes_;
};

Result<std::shared_ptr<const host::LoadedPlugin>> load_checked(const OpenedPlugin& piece, const Loading& how) {
  TRY(load::check_compatible(piece.manifest));
  TRY(load::check_required_services(piece.manifest));
  const FileVersion stamp = TRY(load::stamp_of(piece.path));
  if (!TRY(host::runs_in_child(piece.manifest, load::Origin::third_party, how.isolation)))
    return host::load_in_process(piece.path, piece.manifest, stamp);
  return child::load_in_child({how.child_program, how.images, nullptr, how.layers}, piece.path, piece.manifest, stamp,
                              how.limits);
}

}  // namespace

Result<OpenedPlugin> open_plugin(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::canonical(path, error);
  if (error) return system_error(error.value(), "'" + path + "'");
  Result<load::Manifest> manifest = load::read_manifest(absolute.string());
  if (!manifest) return std::move(manifest).error().context("'" + path + "'");
  return OpenedPlugin{absolute.string(), *std::move(manifest)};
}

Result<std::shared_ptr<const host::LoadedPlugin>> load(const OpenedPlugin& piece, const Loading& how) {
  auto loaded = load_checked(piece, how);
  if (!loaded) return std::move(loaded).error().context("'" + piece.path + "'");
  return loaded;
}

Result<std::shared_ptr<const host::LoadedPlugin>> linked_plugin(const koord_module* module) {
  if (module == nullptr || module->manifest == nullptr) return invalid("expected a module with a manifest, found none");
  const load::Manifest manifest = TRY(load::parse_manifest(module->manifest));
  TRY(load::check_compatible(manifest));
  TRY(load::check_required_services(manifest));
  return std::shared_ptr<const host::LoadedPlugin>(
      std::make_shared<const LinkedPlugin>(module, TRY(load::check_module(module, manifest))));
}

Result<std::string> find_child_program() {
  const std::string here = directory_of_program();
  // Installed programs are in one folder; in a build each is in the folder of its sources.
  for (const char* place : {"/koord-plugin-host", "/../plugin_host/koord-plugin-host"})
    if (std::string path = here + place; ::access(path.c_str(), X_OK) == 0) return path;
  return invalid("expected koord-plugin-host beside this program in '" + here + "', found none");
}

}  // namespace koord::workshop
