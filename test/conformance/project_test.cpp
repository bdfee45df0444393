// SPDX-License-Identifier: Apache-2.0
// koordctl plugin new in the language of KOORD_LANGUAGE: an author gets a working plugin on a machine with a compiler
// and koordctl, and without a network.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/child/landlock.hpp"
#include "test/conformance/author.hpp"

using namespace koord::test;

namespace {

std::string language() { return from_environment("KOORD_LANGUAGE"); }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Workplace& place() {
  static const Workplace place;
  return place;
}

std::string koordctl(const std::string& arguments) { return "'" + built("core/ctl/koordctl") + "' " + arguments; }

// A new project of this kind and name. Everything works without a network.
struct Demo {
  explicit Demo(const std::string& kind, std::string project = "demo") : name(std::move(project)) {
    const Finished made = place().run(koordctl("plugin new " + kind + " --lang " + language() + " " + name));
    REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  }
  ~Demo() { place().run("rm -r " + name); }

  Finished offline(const std::string& words) const { return place().run("unshare --net " + words, name); }

  void build() const {
    const Finished built = offline("./build");
    REQUIRE_MESSAGE(built.exit_status == 0, built.output);
    CHECK_MESSAGE(!contains(built.output, "warning"), built.output);
    const Finished checked = offline(koordctl("plugin check " + name + ".so"));
    CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  }

  void pass_own_tests() const {
    const Finished tested = offline("./build test");
    CHECK_MESSAGE(tested.exit_status == 0, tested.output);
  }

  // Returns the output of koordctl plugin run, with the isolation layers of a third-party plugin in an agent.
  std::string run(const std::string& options = {}) const {
    const Finished ran =
        offline(koordctl("plugin run " + name + ".so --confined --ticks 3 --period 10ms --pods pods.yaml " + options));
    CHECK_MESSAGE(ran.exit_status == 0, ran.output);
    const std::string layers = koord::child::landlock_abi() ? "uid+landlock+seccomp" : "uid+seccomp";
    CHECK_MESSAGE(contains(ran.output, "confined by " + layers + ";"), ran.output);
    return ran.output;
  }

  const std::string name;
};

}  // namespace

TEST_CASE("acceptance 18: the project of an advisor builds without a network, passes check and emits a metric") {
  const Demo demo("advisor");
  demo.build();
  CHECK(contains(demo.run(), "demo_load"));
  CHECK(contains(demo.run("--set minutes=15"), "demo_load"));
  demo.pass_own_tests();
}

TEST_CASE("the project of an external advisor names the configured address to scrape") {
  const Demo demo("external-advisor");
  demo.build();
  CHECK(contains(demo.run(), "http://127.0.0.1:9100/metrics"));
  CHECK(contains(demo.run("--set port=9400"), "http://127.0.0.1:9400/metrics"));
  demo.pass_own_tests();
}

TEST_CASE("the project of a strategy proposes the configured limit for the best-effort pod") {
  const Demo demo("strategy");
  demo.build();
  CHECK(contains(demo.run(), "cpu.max  50000 100000"));
  CHECK(contains(demo.run("--set milliCores=1500"), "cpu.max  150000 100000"));
  demo.pass_own_tests();
}

TEST_CASE("the project of a hook changes the container of the pod with the label, as configured") {
  const Demo demo("hook");
  demo.build();
  const std::string answer = demo.run();
  CHECK(contains(answer, "shop/cart  web        linux.cpu.shares  2048"));
  CHECK(contains(answer, "shop/cart  web        env:POD_TIER      interactive"));
  CHECK(!contains(answer, "reports/nightly"));
  CHECK(contains(demo.run("--set shares=4096"), "linux.cpu.shares  4096"));
  const Finished refused = demo.offline(koordctl("plugin run demo.so --pods pods.yaml --set shares=1"));
  CHECK(refused.exit_status == 1);
  CHECK_MESSAGE(contains(refused.output, "shares"), refused.output);
  const Finished measured = demo.offline(koordctl("plugin bench demo.so --pods pods.yaml --ticks 50"));
  CHECK_MESSAGE(measured.exit_status == 0, measured.output);
  CHECK_MESSAGE(contains(measured.output, "50 answers."), measured.output);
  demo.pass_own_tests();
}

TEST_CASE("an unknown word for the build script is an error that names the word") {
  const Demo demo("advisor", "my-demo");
  const Finished asked = demo.offline("./build tests");
  CHECK(asked.exit_status == 2);
  CHECK(contains(asked.output, "found 'tests'"));
}
