// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/author.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace koord::test {
namespace fs = std::filesystem;

namespace {

Finished shell(const std::string& command) { return run_to_end({"/bin/sh", "-ec", command}, std::chrono::minutes(2)); }

void must(const std::string& command) {
  const Finished done = shell(command);
  if (done.exit_status != 0) throw std::runtime_error(done.output);
}

// Makes pkg-config use the real prefix, which is below DESTDIR here.
void wrap_pkg_config(const std::string& folder) {
  const std::string prefix = folder + from_environment("KOORD_PREFIX");
  const std::string pc = prefix + "/" + from_environment("KOORD_LIBDIR") + "/pkgconfig";
  must("mkdir -p '" + folder + "/bin' && printf '%s\\n' '#!/bin/sh' 'PKG_CONFIG_PATH=" + pc + " exec " +
       from_environment("KOORD_PKG_CONFIG") + " --define-variable=prefix=" + prefix + " \"$@\"' > '" + folder +
       "/bin/pkg-config' && chmod +x '" + folder + "/bin/pkg-config'");
}

}  // namespace

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string(name) + " is not set: run this with meson test");
  return value;
}

Workplace::Workplace() {
  must("DESTDIR='" + folder_.path() + "' meson install --no-rebuild --tags devel -C '" +
       from_environment("KOORD_BUILD") + "'");
  wrap_pkg_config(folder_.path());
  fs::create_directory(folder());
}

Finished Workplace::run(const std::string& words, const std::string& where) const {
  return shell("unset CFLAGS CXXFLAGS LDFLAGS RUSTFLAGS GOFLAGS; export GOPROXY=off GOTOOLCHAIN=local PATH=\"" +
               (folder_ / "bin") + ":$PATH\"; cd '" + folder() + "/" + where + "' && " + words);
}

Author::Author(std::string_view example, std::string_view plugin) : plugin_(plugin) {
  fs::copy(from_environment("KOORD_SOURCE") + "/examples/" + std::string(example), place_.folder(),
           fs::copy_options::recursive);
}

Finished Author::make(const std::string& arguments) const { return place_.run("make " + arguments); }

void Author::install(AgentProcess& agent) const {
  const std::string installed = agent.plugin_folder() + "/" + plugin_;
  fs::copy_file(plugin(), installed);
  fs::permissions(installed, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
}

std::string complaints_about(const std::string& plugin) {
  const Finished checked =
      run_to_end({from_environment("KOORD_KOORDCTL"), "plugin", "check", plugin}, std::chrono::minutes(2));
  return checked.exit_status == 0 ? "" : checked.output;
}

}  // namespace koord::test
