// SPDX-License-Identifier: Apache-2.0
// Pins and signatures as an operator uses them: at the start and at each reload.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "stage.hpp"
#include "test/core/load/signer.hpp"

using namespace koord;
using namespace koord::host;
using koord::test::HostStage;
using koord::test::Puppet;
using koord::test::Signer;

namespace {

const std::string kWrong(64, 'a');

struct Trial {
  HostStage stage{"puppet"};
  std::string file = stage.shelf().file("puppet");
  Puppet puppet{file};
  Signer signer;

  std::string digest() const { return *load::sha256_of(*read_file(file)); }
  void reload() { stage.apply("Puppet=true"); }
  void pin(const std::string& sha256) {
    auto settings = stage.settings().defaults;
    settings.sha256 = sha256;
    stage.settings().settings["puppet"] = settings;
    reload();
  }
  void trust_signer() {
    stage.settings().trust = config::Trust::signature;
    stage.settings().trusted_keys = {signer.publish(stage.shelf().path() + "/signer.pem")};
    reload();
  }
  bool runs() { return stage.await("puppet", PluginState::running); }
  bool refused() { return stage.await("puppet", PluginState::refused); }
  std::string reason() { return stage.status("puppet").reason; }
};

}  // namespace

TEST_CASE_FIXTURE(Trial, "a plugin with the right pin runs") {
  stage.settings().trust = config::Trust::pinned;
  pin(digest());
  CHECK(runs());
}

TEST_CASE_FIXTURE(Trial, "of a plugin with a wrong pin nothing runs, until a reload brings the right one") {
  pin(kWrong);
  REQUIRE(refused());
  CHECK(reason() == "'" + file + "': expected sha256 " + kWrong + ", found " + digest());
  CHECK(puppet.calls().empty());
  pin(digest());
  CHECK(runs());
}

TEST_CASE_FIXTURE(Trial,
                  "a running plugin ends when a reload sets a pin that it does not match, and starts again later") {
  pin(digest());
  REQUIRE(puppet.await("collect"));
  pin(kWrong);
  REQUIRE(puppet.await("destroy"));
  REQUIRE(refused());
  CHECK(reason().ends_with("found " + digest()));
  CHECK_FALSE(stage.manager().status()[0].instances[0].state == PluginState::running);
  pin(digest());
  CHECK(puppet.await("create", 2));
  CHECK(runs());
}

TEST_CASE_FIXTURE(Trial, "a running plugin continues without a break when a reload sets the pin that it matches") {
  reload();
  REQUIRE(runs());
  pin(digest());
  stage.settings().trust = config::Trust::pinned;
  reload();
  REQUIRE(runs());
  CHECK(stage.stop());  // also waits for the check
  CHECK(puppet.count("create") == 1);
}

TEST_CASE_FIXTURE(Trial, "a file that was replaced while the plugin runs is not mistaken for the running one") {
  reload();
  REQUIRE(runs());
  const std::string content = *read_file(file);
  REQUIRE(write_file_atomically(file, content, 0755));
  pin(digest());
  REQUIRE(refused());
  CHECK(reason().ends_with("koordctl plugin reload takes what is there now"));
}

TEST_CASE_FIXTURE(Trial, "an unpinned plugin does not mind that its file was replaced") {
  reload();
  REQUIRE(runs());
  const std::string content = *read_file(file);
  REQUIRE(write_file_atomically(file, content, 0755));
  reload();
  CHECK(runs());
}

TEST_CASE_FIXTURE(Trial, "a reload that asks for less lets a refused plugin run") {
  stage.settings().trust = config::Trust::pinned;
  reload();
  REQUIRE(refused());
  stage.settings().trust = config::Trust::any;
  reload();
  CHECK(runs());
}

TEST_CASE_FIXTURE(Trial, "a signed plugin runs, and ends when a reload takes its key away") {
  signer.sign_file(file);
  trust_signer();
  REQUIRE(runs());
  stage.settings().trusted_keys = {Signer().publish(stage.shelf().path() + "/other.pem")};
  reload();
  REQUIRE(refused());
  CHECK(reason().find("'" + stage.shelf().path() + "/other.pem'") != std::string::npos);
}

TEST_CASE_FIXTURE(Trial, "a plain name does not spare a plugin the signature") {
  trust_signer();
  REQUIRE(refused());
  CHECK(reason() == "expected a signature in '" + file + ".sig', as plugins.trust is 'signed', found none");
}

TEST_CASE_FIXTURE(Trial, "a plugin with its gate off is not checked, but is checked when the gate is on again") {
  reload();
  REQUIRE(runs());
  auto settings = stage.settings().defaults;
  settings.sha256 = kWrong;
  stage.settings().settings["puppet"] = settings;
  stage.apply("Puppet=false");
  CHECK(stage.await("puppet", PluginState::disabled));
  reload();
  CHECK(refused());
}

TEST_CASE("settings of a plugin with dots in its id are taken at a reload") {
  HostStage stage{"vendor"};
  stage.settings().defaults.isolation = config::Isolation::in_process;
  stage.apply("AcmePuppet=true");
  REQUIRE(stage.await("com.acme.puppet", PluginState::running));
  auto settings = stage.settings().defaults;
  settings.period = std::chrono::minutes(7);
  stage.settings().settings["com.acme.puppet"] = settings;
  stage.apply("AcmePuppet=true");
  CHECK(stage.status("com.acme.puppet").period == std::chrono::minutes(7));
}
