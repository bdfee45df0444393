// SPDX-License-Identifier: Apache-2.0
#include "core/load/manifest.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/load/elf_section.hpp"
#include "core/load/grants.hpp"
#include "plugin_shelf.hpp"

using namespace koord;
using namespace koord::load;
using koord::test::built_plugin;
using koord::test::PluginShelf;

namespace {

const std::string kMinimal =
    "koord-manifest/1\nid=com.acme.runq\nversion=1.2.0\nabi=1.0\nkinds=koord.advisor/1\ngate=AcmeRunQueue\n";

std::string refusal(std::string_view text) {
  Result<Manifest> manifest = parse_manifest(text);
  return manifest ? "accepted" : manifest.error().message();
}

std::string refusal_of_file(const std::string& path) {
  Result<Manifest> manifest = read_manifest(path);
  return manifest ? "accepted" : manifest.error().message();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a manifest names the plugin, its ABI, kinds and gate") {
  Result<Manifest> manifest = parse_manifest(kMinimal);
  REQUIRE(manifest);
  CHECK(manifest->id == "com.acme.runq");
  CHECK(manifest->version == "1.2.0");
  CHECK(manifest->abi_major == 1);
  CHECK(manifest->kinds == std::vector<std::string>{"koord.advisor/1"});
  CHECK(manifest->gates == std::vector<std::string>{"AcmeRunQueue"});
  CHECK(manifest->stage == config::Stage::alpha);
  CHECK(manifest->runtime == Runtime::native);
}

TEST_CASE("a manifest lists the services it requires and those it can use") {
  Result<Manifest> manifest = parse_manifest(kMinimal + "requires=koord.metrics/1,koord.kv/1\noptional=com.acme.x/2\n");
  REQUIRE(manifest);
  CHECK(manifest->required_services == std::vector<std::string>{"koord.metrics/1", "koord.kv/1"});
  CHECK(manifest->optional_services == std::vector<std::string>{"com.acme.x/2"});
}

TEST_CASE("a manifest names the annotations of pods that the plugin reads") {
  CHECK(parse_manifest(kMinimal + "annotations=example.org/batch, example.org/*,plain\n")->annotations ==
        std::vector<std::string>{"example.org/batch", "example.org/*", "plain"});
  for (const char* wrong : {"*", "a b", "/x", "example.org/", "example.org/a/b"}) {
    CAPTURE(wrong);
    CHECK(refusal(kMinimal + "annotations=" + wrong + "\n").find("keys of annotations") != std::string::npos);
  }
}

TEST_CASE("keys of a later minor are ignored") { CHECK(parse_manifest(kMinimal + "colour=blue\n")); }

TEST_CASE("NUL bytes may follow a manifest, but a manifest contains none") {
  CHECK(parse_manifest(kMinimal + std::string(3, '\0')));
  CHECK(contains(refusal(kMinimal + std::string(1, '\0') + "license=x\n"), "control character"));
}

TEST_CASE("a manifest is refused with what was expected and found") {
  struct {
    std::string text;
    std::string_view why;
  } rows[] = {
      {"", "expected the first line 'koord-manifest/1', found ''"},
      {"koord-manifest/2\n", "found 'koord-manifest/2'"},
      {"koord-manifest/1\nid=x\n", "expected 'version', found none"},
      {kMinimal + "id=other\n", "found 'id' twice, expected it once"},
      {kMinimal + "nonsense\n", "expected lines key=value, found 'nonsense'"},
      {kMinimal + "stage=gamma\n", "stage='gamma': expected alpha, beta or ga"},
      {kMinimal + "default=yes\n", "default='yes': expected true or false"},
      {kMinimal + "runtime=perl\n", "runtime='perl': expected native, go, jvm or python"},
      {kMinimal + "requires=metrics\n", "requires='metrics': expected names such as koord.metrics/1"},
      {kMinimal + "requires=a/1,a/1\n", "expected each name once"},
      {"koord-manifest/1\nid=../x\nversion=1\n", "id='../x': expected"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=one\n", "abi='one': expected MAJOR.MINOR"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=1.0\nkinds=\ngate=G\n", "at least one of 'kinds'"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=1.0\nkinds=a/1\ngate=lower\n", "gate='lower': expected a gate name"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=1.0\nkinds=a/1\ngate=A,b\n", "gate='b': expected a gate name"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=1.0\nkinds=a/1\ngate=A,A\n", "gate='A': expected each name once"},
      {"koord-manifest/1\nid=x\nversion=1\nabi=1.0\nkinds=a/1\ngate=\n",
       "expected a gate name such as AcmeRunQueue, found none"},
      {kMinimal + "license=\x1b[2J\n", "control character"},
      {kMinimal + "license=\xff\n", "expected UTF-8"},
      {kMinimal + std::string(5000, 'x'), "at most 4096 bytes, found"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK_MESSAGE(contains(refusal(row.text), row.why), refusal(row.text));
  }
}

TEST_CASE("only a plugin of the host itself may be on by default") {
  Result<Manifest> manifest = parse_manifest(kMinimal + "default=true\nstage=ga\n");
  REQUIRE(manifest);
  CHECK(manifest->gate_specs(Origin::host).front().default_on);
  CHECK_FALSE(manifest->gate_specs(Origin::third_party).front().default_on);
}

TEST_CASE("the manifest of a shared object is read without mapping it") {
  Result<Manifest> manifest = read_manifest(built_plugin("puppet"));
  REQUIRE(manifest);
  CHECK(manifest->id == "puppet");
  // Its constructor throws, so the test would fail if the file were mapped.
  CHECK(read_manifest(built_plugin("throws"))->id == "throws");
}

TEST_CASE("a shared object without a manifest is refused") {
  CHECK(contains(refusal_of_file(built_plugin("no-manifest")), "expected a section '.koord_manifest', found none"));
}

TEST_CASE("a shared object of another architecture is refused with both names") {
  PluginShelf shelf{"puppet"};
  shelf.patch("puppet", offsetof(Elf64_Ehdr, e_machine), std::string("\x16\x00", 2));  // EM_S390
  std::string why = refusal_of_file(shelf.file("puppet"));
  CHECK_MESSAGE(contains(why, "expected machine "), why);
  CHECK_MESSAGE(contains(why, "found s390"), why);
}

TEST_CASE("a 32-bit file, a big-endian one and one that is not an ELF file are refused") {
  PluginShelf shelf{"puppet"};
  shelf.patch("puppet", EI_CLASS, "\x01");
  CHECK(contains(refusal_of_file(shelf.file("puppet")), "expected a 64-bit ELF file"));
  shelf.patch("puppet", EI_CLASS, "\x02\x02");
  CHECK(contains(refusal_of_file(shelf.file("puppet")), "expected a little-endian ELF file"));
  shelf.patch("puppet", 0, "#!/bin/sh");
  CHECK(contains(refusal_of_file(shelf.file("puppet")), "expected an ELF file"));
}

TEST_CASE("a truncated file is refused wherever it was cut") {
  Result<std::string> whole = read_file(built_plugin("puppet"));
  REQUIRE(whole);
  for (std::size_t size = 0; size < whole->size(); size += 97) {
    auto bytes = std::as_bytes(std::span(whole->data(), size));
    CHECK_FALSE(read_elf_section(bytes_of_memory(bytes), ".koord_manifest", 4097));
  }
  PluginShelf shelf{"puppet"};
  std::filesystem::resize_file(shelf.file("puppet"), 5000);
  CHECK(contains(refusal_of_file(shelf.file("puppet")), "truncated: expected the section table up to byte"));
}

TEST_CASE("another ABI major is refused with both majors") {
  Result<Manifest> manifest = read_manifest(built_plugin("other-major"));
  REQUIRE(manifest);
  CHECK(check_compatible(*manifest).error().message() == "expected plugin ABI 1.x, found 2.0");
}

TEST_CASE("any ABI minor is taken: a plugin names its needs in requires") {
  for (const char* abi : {"1.0", "1.1", "1.2", "1.999"}) {
    CAPTURE(abi);
    std::string text = kMinimal;
    text.replace(text.find("abi=1.0"), 7, std::string("abi=") + abi);
    const Result<Manifest> manifest = parse_manifest(text);
    REQUIRE(manifest);
    CHECK(check_compatible(*manifest));
  }
}

TEST_CASE("an unknown kind is refused") {
  Manifest manifest = *parse_manifest(kMinimal);
  manifest.kinds = {"koord.weather/1"};
  CHECK(contains(check_compatible(manifest).error().message(), "found kind 'koord.weather/1', this host knows"));
}

TEST_CASE(
    "an advisor that requires koord.knobs/1 is refused with the kinds that may have it and the services offered") {
  std::string why = check_required_services(*read_manifest(built_plugin("wants-knobs"))).error().message();
  CHECK_MESSAGE(
      why.starts_with("wants-knobs requests service koord.knobs/1, which is granted to "
                      "koord.qos-strategy/1; offered to koord.advisor/1: koord.audit/1, koord.capabilities/1"),
      why);
}

TEST_CASE("a plugin that requires an unknown service is refused with its name") {
  std::string why = check_required_services(*read_manifest(built_plugin("wants-unknown"))).error().message();
  CHECK_MESSAGE(contains(why, "requests service com.acme.magic/1, which this host does not have; offered"), why);
}

TEST_CASE("a strategy is granted knobs, an advisor is not") {
  auto has = [](std::string_view kind, std::string_view service) {
    std::vector<std::string> granted = granted_services(kind);
    return std::find(granted.begin(), granted.end(), service) != granted.end();
  };
  CHECK(has("koord.qos-strategy/1", "koord.knobs/1"));
  CHECK_FALSE(has("koord.advisor/1", "koord.knobs/1"));
  CHECK(has("koord.qos-strategy/1", "koord.evict/1"));
  CHECK_FALSE(has("koord.advisor/1", "koord.evict/1"));
  CHECK(has("koord.advisor/1", "koord.metrics/1"));
  CHECK(granted_services("koord.weather/1").empty());
}
