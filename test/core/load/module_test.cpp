// SPDX-License-Identifier: Apache-2.0
#include "core/load/module.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "core/load/module_check.hpp"
#include "plugin_shelf.hpp"

using namespace koord;
using namespace koord::load;
using koord::test::built_plugin;

namespace {

std::string refusal(std::string_view plugin) {
  std::string path = built_plugin(plugin);
  auto module = Module::load(path, *read_manifest(path), *stamp_of(path));
  return module ? "loaded" : module.error().message();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a module describes its classes in plain values") {
  std::string path = built_plugin("puppet");
  auto module = Module::load(path, *read_manifest(path), *stamp_of(path));
  REQUIRE_MESSAGE(module, refusal("puppet"));
  REQUIRE((*module)->classes().size() == 1);
  const ClassInfo& info = (*module)->classes()[0];
  CHECK(info.kind == "koord.advisor/1");
  CHECK(info.name == "puppet");
  CHECK(info.ticks);
  CHECK(info.takes_events);
  CHECK_FALSE(info.runs);
  CHECK(info.period == std::chrono::hours(1));
}

TEST_CASE("acceptance 5: a plugin that uses an undefined symbol is refused at load with the loader's own text") {
  std::string why = refusal("undefined");
  CHECK_MESSAGE(contains(why, "undefined symbol: koord_no_such_function"), why);
}

TEST_CASE("a plugin with a constructor that throws is refused with the exception's text") {
  CHECK(refusal("throws") == "expected constructors that do not throw, found the exception: the constructor's text");
}

TEST_CASE("a plugin with a constructor that aborts is refused with the signal") {
  CHECK(refusal("aborts") == "the trial ended by signal 6 (Aborted)");
}

TEST_CASE("a refused plugin leaves the loader's lock free for another thread") {
  CHECK(refusal("throws") != "loaded");
  std::thread([] { CHECK(refusal("puppet") == "loaded"); }).join();
}

TEST_CASE("a plugin without the entry function is refused") {
  CHECK(refusal("no-entry") == "expected the symbol koord_entry_v1, found none");
}

TEST_CASE("a module of another major than its manifest says is refused") {
  CHECK(refusal("other-major-inside") == "module ABI: expected 1.x, found 7.0");
}

TEST_CASE("a module with another manifest than its file is refused") {
  CHECK(refusal("other-manifest") ==
        "manifest of the module: expected the text of section .koord_manifest, found another");
}

TEST_CASE("acceptance 14: a table shortened below a function that is needed is refused") {
  CHECK(refusal("short-table") == "class 0: advisor: expected collect() or run(), found neither");
  CHECK(refusal("no-init") == "class 0: init(): expected a function, found NULL");
}

TEST_CASE("acceptance 14: a table grown by a later minor is accepted") { CHECK(refusal("grown") == "loaded"); }

TEST_CASE("a file is mapped once however often it is asked for") {
  std::string path = built_plugin("puppet");
  auto first = Module::load(path, *read_manifest(path), *stamp_of(path));
  auto second = Module::load(path, *read_manifest(path), *stamp_of(path));
  REQUIRE(first);
  REQUIRE(second);
  auto table = [](auto& module) { return static_cast<const Module&>(**module).class_at(0); };
  CHECK(table(first) == table(second));
}

TEST_CASE("classes are found by the stride their maker gave") {
  struct Grown {
    koord_class cls;
    void* of_a_later_minor;
  };
  Grown classes[2] = {};
  koord_module module{KOORD_MAGIC, sizeof(koord_module), 1, 3, 2, sizeof(Grown), 0, "", &classes[0].cls};
  CHECK(class_of(&module, 1) == &classes[1].cls);
}

TEST_CASE("a file that is not a module is refused before anything in it is used") {
  Manifest manifest;
  CHECK(contains(check_module(nullptr, manifest).error().message(), "expected a module, found NULL"));
  koord_module module{};
  CHECK(contains(check_module(&module, manifest).error().message(), "module magic: expected "));
  module.magic = KOORD_MAGIC;
  CHECK(contains(check_module(&module, manifest).error().message(), "module: expected at least 40 bytes, found 0"));
}
