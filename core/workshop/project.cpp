// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/project.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/config/plugin_id.hpp"
#include "core/workshop/embedded_files.hpp"

namespace koord::workshop {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxNameLength = 40;

constexpr std::array kKinds = {"advisor", "external-advisor", "strategy", "hook"};

// A file or folder (with '/' at its end) of plugin-api/, and its name in the project.
struct Part {
  std::string_view from, to;
};

constexpr Part kHeader{"include/koordetector/plugin.h", "sdk/koordetector/plugin.h"};
constexpr Part kCppHeader{"include/koordetector/plugin.hpp", "sdk/koordetector/plugin.hpp"};
constexpr Part kServicesHeader{"include/koordetector/services.hpp", "sdk/koordetector/services.hpp"};
constexpr Part kCacheHeader{"include/koordetector/cache.hpp", "sdk/koordetector/cache.hpp"};
constexpr Part kStrategiesHeader{"include/koordetector/strategies.hpp", "sdk/koordetector/strategies.hpp"};
constexpr Part kSubjectsHeader{"include/koordetector/subjects.hpp", "sdk/koordetector/subjects.hpp"};
constexpr Part kVerdictsHeader{"include/koordetector/verdicts.hpp", "sdk/koordetector/verdicts.hpp"};
constexpr Part kTestHeader{"include/koordetector/test.h", "sdk/koordetector/test.h"};
constexpr Part kMap{"koordetector-plugin.map", "sdk/koordetector-plugin.map"};
constexpr Part kGoHeader{"include/koordetector/go.h", "sdk/koordetector/go.h"};
constexpr Part kGoPackage{"bindings/go/", "sdk/go/"};
constexpr Part kCrate{"bindings/rust/", "sdk/rust/"};

constexpr std::array kSdkOfC = {kHeader, kTestHeader, kMap};
constexpr std::array kSdkOfCpp = {kHeader,         kCppHeader,      kServicesHeader, kCacheHeader, kStrategiesHeader,
                                  kSubjectsHeader, kVerdictsHeader, kTestHeader,     kMap};
constexpr std::array kSdkOfRust = {kHeader, kCrate};
constexpr std::array kSdkOfGo = {kHeader, kGoHeader, kGoPackage, kMap};

struct Language {
  std::string_view name, source;
  std::string_view packages;  // Debian packages needed on an empty system
  std::span<const Part> sdk;
};

const std::array kLanguages = {
    Language{"c", "plugin.c", "gcc libc6-dev", kSdkOfC},
    Language{"cpp", "plugin.cpp", "g++", kSdkOfCpp},
    Language{"rust", "plugin.rs", "rustc gcc libc6-dev", kSdkOfRust},
    Language{"go", "plugin.go", "golang-go gcc libc6-dev", kSdkOfGo},
};

Result<std::string_view> find_kind(std::string_view name) {
  for (const std::string_view kind : kKinds)
    if (kind == name) return kind;
  return invalid("kind '" + std::string(name) + "': expected one of " + join(project_kinds(), ", "));
}

Result<const Language*> find_language(std::string_view name) {
  for (const Language& language : kLanguages)
    if (language.name == name) return &language;
  return invalid("language '" + std::string(name) + "': expected one of " + join(project_languages(), ", "));
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

Result<void> check_name(const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= kMaxNameLength && is_lower(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '-'; });
  if (fits) return {};
  return invalid("name '" + name + "': expected a letter of a-z, then at most " + std::to_string(kMaxNameLength - 1) +
                 " of a-z, 0-9 and '-'");
}

// Fails for an id without a dot, because only the host's own plugins have plain names.
Result<void> check_id(const std::string& id) {
  if (config::is_plugin_id(id) && id.find('.') != id.npos) return {};
  return invalid("id '" + id + "': expected a reverse domain name of a-z, 0-9, '-' and '.', such as com.example.demo");
}

// Returns "MyPlugin" for "my-plugin".
std::string camel_case(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '-') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '-';
  }
  return out;
}

// Returns "my_plugin" for "my-plugin".
std::string snake_case(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

using Placeholders = std::vector<std::pair<std::string_view, std::string>>;  // "@NAME@" and its value

// Replaces the placeholders in this order, because a value may contain a later placeholder.
std::string filled_in(std::string text, const Placeholders& placeholders) {
  for (const auto& [placeholder, value] : placeholders)
    for (std::size_t at = 0; (at = text.find(placeholder, at)) != text.npos; at += value.size())
      text.replace(at, placeholder.size(), value);
  return text;
}

using EmbeddedFiles = std::vector<EmbeddedFile>;

std::string embedded_text(const EmbeddedFiles& files, std::string_view path) {
  for (const EmbeddedFile& file : files)
    if (file.path == path) return file.content.substr(0, file.content.find_last_not_of('\n') + 1);
  return {};
}

// Adds the templates of a folder, with their placeholders replaced.
void add_templates(const EmbeddedFiles& files, const std::string& folder, const Placeholders& placeholders,
                   std::vector<ProjectFile>& into) {
  const std::string prefix = "templates/" + folder + "/";
  for (const EmbeddedFile& file : files)
    if (file.path.starts_with(prefix))
      into.push_back(
          {std::string(file.path.substr(prefix.size())), filled_in(file.content, placeholders), file.executable});
}

// Adds files that a project needs for its build, unchanged.
void add_sdk(const EmbeddedFiles& files, std::span<const Part> parts, std::vector<ProjectFile>& into) {
  for (const Part& part : parts)
    for (const EmbeddedFile& file : files)
      if (part.from.ends_with('/') ? file.path.starts_with(part.from) : file.path == part.from)
        into.push_back({std::string(part.to) + std::string(file.path.substr(part.from.size())), file.content, false});
}

Result<void> write_files(const Project& project, const fs::path& folder) {
  for (const ProjectFile& file : project.files) {
    const fs::path path = folder / file.path;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return system_error(failed.value(), "cannot create folder '" + path.parent_path().string() + "'");
    TRY(write_file_atomically(path, file.content, file.executable ? 0755 : 0644));
  }
  return {};
}

}  // namespace

std::vector<std::string> project_kinds() { return {kKinds.begin(), kKinds.end()}; }

std::vector<std::string> project_languages() {
  std::vector<std::string> names;
  for (const Language& language : kLanguages) names.emplace_back(language.name);
  return names;
}

Result<Project> make_project(const ProjectRequest& request) {
  const std::string kind(TRY(find_kind(request.kind)));
  const Language& language = *TRY(find_language(request.language));
  TRY(check_name(request.name));
  Project project{.name = request.name,
                  .id = request.id.empty() ? "com.example." + request.name : request.id,
                  .gate = camel_case(request.name),
                  .metric_prefix = snake_case(request.name),
                  .source = std::string(language.source),
                  .grants = kind == "external-advisor" ? "network: [tcp]" : ""};
  TRY(check_id(project.id));

  const EmbeddedFiles files = TRY(embedded_files());
  const std::string in_language = std::string("-") + std::string(language.name);
  const Placeholders placeholders = {
      {"@ABOUT@", embedded_text(files, "templates/" + kind + "/about.md")},
      {"@NAME@", project.name},
      {"@ID@", project.id},
      {"@GATE@", project.gate},
      {"@METRIC@", project.metric_prefix},
      {"@SOURCE@", project.source},
      {"@GRANTS@", project.grants.empty() ? "" : "\n      " + project.grants + " # see the table above"},
      {"@PACKAGES@", std::string(language.packages)}};
  add_templates(files, "common", placeholders, project.files);
  add_templates(files, "common" + in_language, placeholders, project.files);
  add_templates(files, kind + in_language, placeholders, project.files);
  add_sdk(files, language.sdk, project.files);
  std::sort(project.files.begin(), project.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return project;
}

Result<void> write_project(const Project& project, const std::string& parent) {
  const fs::path folder = fs::path(parent) / project.name;
  std::error_code failed;
  if (!fs::create_directory(folder, failed)) {
    if (!failed) return invalid("'" + folder.string() + "' is there already: expected a name that is free");
    return system_error(failed.value(), "cannot create folder '" + folder.string() + "'");
  }
  Result<void> written = write_files(project, folder);
  if (!written) fs::remove_all(folder, failed);
  return written;
}

}  // namespace koord::workshop
