// SPDX-License-Identifier: Apache-2.0
// Tests the names and places of the files that koordctl plugin new writes, and that it overwrites no existing file.
// test/conformance tests that the project builds and works.
#include "core/workshop/project.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/workshop/node_tree.hpp"

using namespace koord;
using namespace koord::workshop;
namespace fs = std::filesystem;

namespace {

ProjectRequest cpp_advisor(std::string name) {
  return {.kind = "advisor", .language = "cpp", .name = std::move(name), .id = {}};
}

Project made(const ProjectRequest& request) {
  Result<Project> project = make_project(request);
  REQUIRE_MESSAGE(project, project.error().message());
  return *std::move(project);
}

std::string complaint(const ProjectRequest& request) {
  const Result<Project> project = make_project(request);
  return project ? "" : project.error().message();
}

const ProjectFile* find(const Project& project, std::string_view path) {
  const auto found =
      std::find_if(project.files.begin(), project.files.end(), [&](const auto& file) { return file.path == path; });
  return found == project.files.end() ? nullptr : &*found;
}

std::string content(const Project& project, std::string_view path) {
  const ProjectFile* file = find(project, path);
  REQUIRE_MESSAGE(file, std::string(path));
  return file->content;
}

// A temporary folder for projects.
struct Shelf {
  NodeTree tree{{{"run/", ""}}};
  std::string path() const { return tree.path("run"); }
};

// Returns projects of every kind in every language.
std::vector<Project> all_projects() {
  std::vector<Project> projects;
  for (const std::string& kind : project_kinds())
    for (const std::string& language : project_languages())
      projects.push_back(made({.kind = kind, .language = language, .name = "acme-load", .id = "org.acme.load"}));
  return projects;
}

}  // namespace

TEST_CASE("a project's name gives its id, its gate and the beginning of its metrics") {
  const Project project = made(cpp_advisor("run-queue-2"));
  CHECK(project.id == "com.example.run-queue-2");
  CHECK(project.gate == "RunQueue2");
  CHECK(project.metric_prefix == "run_queue_2");
}

TEST_CASE("a given id is used instead") {
  CHECK(made({.kind = "hook", .language = "c", .name = "x", .id = "org.acme.threads"}).id == "org.acme.threads");
}

TEST_CASE("a name is a letter, then letters, digits and dashes, all small") {
  for (const char* name : {"a", "a1", "run-queue", "a--b", "a-"})
    CHECK_MESSAGE(complaint(cpp_advisor(name)) == "", name);
  for (const char* name : {"", "1a", "-a", "A", "a_b", "a/b", "..", "a b", "\xc3\xa4"}) {
    CHECK_MESSAGE(complaint(cpp_advisor(name)).find("name '" + std::string(name) + "': expected a letter") == 0, name);
  }
  CHECK(complaint(cpp_advisor(std::string(40, 'a'))) == "");
  CHECK(complaint(cpp_advisor(std::string(41, 'a'))) != "");
}

TEST_CASE("an id of the host's own form, or of none, is refused") {
  for (const char* id : {"plain", "org..acme", "Org.Acme", "org.acme.", "org.acme\nversion=2"})
    CHECK_MESSAGE(
        complaint({.kind = "hook", .language = "c", .name = "x", .id = id}).find("expected a reverse domain name") !=
            std::string::npos,
        id);
}

TEST_CASE("an unknown kind or language is answered with those that there are") {
  CHECK(complaint({.kind = "adviser", .language = "c", .name = "x", .id = {}}) ==
        "kind 'adviser': expected one of advisor, external-advisor, strategy, hook");
  CHECK(complaint({.kind = "hook", .language = "java", .name = "x", .id = {}}) ==
        "language 'java': expected one of c, cpp, rust, go");
}

TEST_CASE("every project has a plugin, an executable build script, a README, an image, CI and its dependencies") {
  for (const Project& project : all_projects()) {
    CAPTURE(project.source);
    CHECK(content(project, project.source).find("id=org.acme.load\\n") != std::string::npos);
    REQUIRE(find(project, "build"));
    CHECK(find(project, "build")->executable);
    CHECK_FALSE(find(project, project.source)->executable);
    for (const char* path : {"README.md", "Containerfile", ".github/workflows/ci.yml", ".gitignore", "pods.yaml",
                             "sdk/koordetector/plugin.h"})
      CHECK_MESSAGE(find(project, path), path);
  }
}

TEST_CASE("no placeholder is left, and no two files have one name") {
  for (const Project& project : all_projects()) {
    for (const ProjectFile& file : project.files)
      for (const char* placeholder :
           {"@NAME@", "@ID@", "@GATE@", "@METRIC@", "@SOURCE@", "@PACKAGES@", "@ABOUT@", "@GRANTS@"})
        CHECK_MESSAGE(file.content.find(placeholder) == std::string::npos, file.path);
    auto same = [](const ProjectFile& a, const ProjectFile& b) { return a.path == b.path; };
    CHECK(std::adjacent_find(project.files.begin(), project.files.end(), same) == project.files.end());
  }
}

TEST_CASE("the README of an external advisor, and of no other kind, gives the plugin the grant that its scrapes need") {
  for (const std::string& kind : project_kinds()) {
    CAPTURE(kind);
    const Project project = made({.kind = kind, .language = "c", .name = "x", .id = {}});
    const std::string readme = content(project, "README.md");
    const bool is_external = kind == "external-advisor";
    CHECK((project.grants == "network: [tcp]") == is_external);
    CHECK((readme.find("    com.example.x:\n      network: [tcp] #") != std::string::npos) == is_external);
    CHECK((readme.find("    com.example.x:\n      config: {}") != std::string::npos) == !is_external);
    CHECK((readme.find("`writePaths: [/run/x.sock]`") != std::string::npos) == is_external);
  }
}

TEST_CASE("a project is written to a new folder with its contents and modes") {
  const Shelf shelf;
  const Project project = made(cpp_advisor("demo"));
  REQUIRE(write_project(project, shelf.path()));
  for (const ProjectFile& file : project.files) {
    const std::string path = shelf.path() + "/demo/" + file.path;
    CHECK_MESSAGE(read_file(path).value() == file.content, path);
    CHECK_MESSAGE((::access(path.c_str(), X_OK) == 0) == file.executable, path);
  }
}

TEST_CASE("a folder or file that is there already is left as it is") {
  Shelf shelf;
  shelf.tree.write("run/demo/precious", "mine\n");
  shelf.tree.write("run/taken", "mine\n");
  for (const char* name : {"demo", "taken"}) {
    const Result<void> written = write_project(made(cpp_advisor(name)), shelf.path());
    REQUIRE_FALSE(written);
    CHECK(written.error().message().find(name) != std::string::npos);
  }
  CHECK(std::distance(fs::directory_iterator(shelf.path() + "/demo"), {}) == 1);
  CHECK(read_file(shelf.path() + "/taken").value() == "mine\n");
}

TEST_CASE("a project that cannot be written leaves nothing behind") {
  const Shelf shelf;
  Project project = made(cpp_advisor("demo"));
  project.files.push_back({"build/inside-a-file", "", false});
  CHECK_FALSE(write_project(project, shelf.path()));
  CHECK_FALSE(fs::exists(shelf.path() + "/demo"));
}
