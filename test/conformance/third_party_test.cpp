// SPDX-License-Identifier: Apache-2.0
// What an author outside of this tree does: install, build an example with its own Makefile and pkg-config
// alone, put the .so into a plugin directory, switch its gate on.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "test/support/agent_process.hpp"

using namespace koord::test;
namespace fs = std::filesystem;

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE_MESSAGE(value, name, " is not set: run this with meson test");
  return value;
}

Finished shell(const std::string& command) {
  return run_to_end({"/bin/sh", "-ec", command}, std::chrono::minutes(2));
}

// An installed prefix with what authors need, and a copy of one example that knows nothing of this tree.
class Author {
 public:
  explicit Author(std::string_view example) : work_(folder_ / "work") {
    const Finished installed =
        shell("DESTDIR='" + folder_.path() + "' meson install --no-rebuild --tags devel -C '" +
              from_environment("KOORD_BUILD") + "'");
    REQUIRE_MESSAGE(installed.exit_status == 0, installed.output);
    fs::copy(from_environment("KOORD_SOURCE") + "/examples/" + std::string(example), work_,
             fs::copy_options::recursive);
  }

  Finished make(const std::string& arguments = {}) const {
    return shell("unset CFLAGS CXXFLAGS LDFLAGS; cd '" + work_ + "' && PATH=\"" + wrapper() +
                 ":$PATH\" make " + arguments);
  }
  std::string plugin() const { return work_ + "/hello.so"; }

 private:
  // pkg-config as it is when the prefix is where it was made for: here it stands below DESTDIR.
  std::string wrapper() const {
    const std::string prefix = folder_.path() + from_environment("KOORD_PREFIX");
    const std::string pc = prefix + "/" + from_environment("KOORD_LIBDIR") + "/pkgconfig";
    const Finished made = shell("mkdir -p '" + folder_.path() + "/bin' && printf '%s\\n' '#!/bin/sh' " +
                                "'PKG_CONFIG_PATH=" + pc + " exec " + from_environment("KOORD_PKG_CONFIG") +
                                " --define-variable=prefix=" + prefix + " \"$@\"' > '" + folder_.path() +
                                "/bin/pkg-config' && chmod +x '" + folder_.path() + "/bin/pkg-config'");
    REQUIRE(made.exit_status == 0);
    return folder_.path() + "/bin";
  }

  TemporaryFolder folder_;
  std::string work_;
};

std::string check(const std::string& plugin) {
  const Finished checked =
      run_to_end({from_environment("KOORD_PLUGIN_CHECK"), plugin, from_environment("KOORD_MODULE_MANIFEST")});
  return checked.exit_status == 0 ? "" : checked.output;
}

}  // namespace

TEST_CASE("the C example builds against an installed prefix and is a sound plugin") {
  const Author author("hello-c");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(check(author.plugin()) == "");
}

TEST_CASE("the C++ example builds against an installed prefix and is a sound plugin") {
  const Author author("hello");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(check(author.plugin()) == "");
}

TEST_CASE("the C example runs in the real host once its gate is on") {
  const Author author("hello-c");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {HelloExample: true}");
  const std::string installed = agent.plugin_folder() + "/hello.so";
  fs::create_directories(agent.plugin_folder());
  fs::copy_file(author.plugin(), installed);
  fs::permissions(installed, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  REQUIRE(agent.start());
  CHECK(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_example_open_files").value_or(0) > 0; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the C example does not run while its gate is off") {
  const Author author("hello-c");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("");
  fs::create_directories(agent.plugin_folder());
  fs::copy_file(author.plugin(), agent.plugin_folder() + "/hello.so");
  REQUIRE(agent.start());
  CHECK(agent.get("/api/v1/plugins").find("com.example.hello") != std::string::npos);
  CHECK(agent.metrics().find("example_open_files") == std::string::npos);
}
