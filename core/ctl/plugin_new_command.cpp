// SPDX-License-Identifier: Apache-2.0
// koordctl plugin new: creates the project of a new plugin, which can be built without changes.
#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/ctl/command.hpp"
#include "core/workshop/project.hpp"

namespace koord::ctl {
namespace json = boost::json;
namespace {

void describe_new(po::options_description& options) {
  static const std::string languages = join(workshop::project_languages(), "|");
  options.add_options()("lang,l", po::value<std::string>()->value_name(languages.c_str()),
                        "programming language; required")("id", po::value<std::string>()->value_name("DOMAIN.NAME"),
                                                          "reverse domain name; default: com.example.NAME");
}

std::string project_json_of(const workshop::Project& project) {
  json::array files;
  for (const workshop::ProjectFile& file : project.files) files.emplace_back(file.path);
  return json::serialize(json::object{{"folder", project.name},
                                      {"id", project.id},
                                      {"gate", project.gate},
                                      {"grants", project.grants},
                                      {"files", files}}) +
         "\n";
}

std::string project_words_of(const workshop::Project& project) {
  const std::string& name = project.name;
  const std::string plugin = name + ".so";
  return name + "/: the plugin " + project.id + " with feature gate " + project.gate + "; " + project.source +
         " is all of it, README.md says the rest\n\n  cd " + name + " && ./build && koordctl plugin check " + plugin +
         " && koordctl plugin run " + plugin + " --ticks 3 --pods pods.yaml\n" +
         (project.grants.empty() ? ""
                                 : "\nAn agent scrapes its endpoint only with plugins.settings." + project.id + "." +
                                       project.grants + "\n");
}

Result<void> make_new(const Invocation& invocation) {
  if (!invocation.has("lang"))
    return invalid("--lang is missing: expected one of " + join(workshop::project_languages(), ", "));
  const workshop::Project project = TRY(workshop::make_project({.kind = invocation.text("argument"),
                                                                .language = invocation.text("lang"),
                                                                .name = invocation.text("argument-2"),
                                                                .id = invocation.text("id")}));
  TRY(workshop::write_project(project, "."));
  invocation.out << (invocation.output == Output::json ? project_json_of(project) : project_words_of(project));
  return {};
}

}  // namespace

const Command kPluginNew{
    "plugin new",     "KIND NAME", "Create a plugin project: KIND is advisor, external-advisor, strategy or hook.",
    describe_new,     make_new,    true,
    "--lang LANGUAGE"};

}  // namespace koord::ctl
