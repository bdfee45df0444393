// SPDX-License-Identifier: Apache-2.0
// koordctl: shows the state of a running agent. Exit status: 0 success, 1 the command failed, 2 invalid command line.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_output.hpp"

namespace koord::ctl {
namespace {

constexpr std::string_view kDefaultSocket = "/run/koordetector/koordetector.sock";

std::vector<const Command*> commands() {
  return {&kTop,
          &kUi,
          &kPods,
          &kNode,
          &kQuery,
          &kPlugins,
          &kFeatures,
          &kCapabilities,
          &kEvents,
          &kDecisions,
          &kKnobs,
          &kWhy,
          &kMode,
          &kHooks,
          &kInterferenceMatrix,  // must come before the command that is its first word
          &kInterference,
          &kManagerStatus,
          &kPredict,
          &kProxyStdio,
          &kReport,
          &kRestore,
          &kSlo,
          &kSql,
          &kTakeoverKoordlet,
          &kPluginInfo,
          &kPluginNew,
          &kPluginCheck,
          &kPluginExplain,
          &kPluginRun,
          &kPluginBench,
          &kPluginFuzz,
          &kPluginRecord,
          &kPluginReload};
}

void describe_socket(po::options_description& options) {
  options.add_options()("socket,s",
                        po::value<std::string>()->default_value(std::string(kDefaultSocket))->value_name("PATH"),
                        "the agent's socket");
}

// Returns the options that --help lists.
po::options_description options_of(const Command& command) {
  po::options_description options("Options");
  options.add_options()(
      "output,o",
      po::value<std::string>()->default_value("table")->value_name(command.has_wide ? "table|wide|json" : "table|json"),
      "how to print");
  if (!command.is_local) describe_socket(options);
  options.add_options()("help,h", "print this help");
  command.describe(options);
  return options;
}

// Prints the commands that begin with this word; "": all commands.
void print_commands(std::string_view first_word, std::ostream& out) {
  for (const Command* command : commands()) {
    std::string_view words = command->name;
    if (!first_word.empty() && next_field(words, ' ') != first_word) continue;
    std::string name = std::string(command->name) + " " + std::string(command->arguments);
    out << "  " << name << std::string(name.size() < 21 ? 21 - name.size() : 1, ' ') << command->summary << "\n";
  }
}

void print_usage(std::ostream& out) {
  out << "Usage: koordctl COMMAND [options]\n\nLooks at the koordetector agent of this node, and at plugins.\n\nCommands\n";
  print_commands("", out);
  out << "\nkoordctl COMMAND --help lists the options of a command.\n";
}

// Returns whether the word is the first word of two-word commands: "plugin", "takeover".
bool is_group(std::string_view word) {
  const std::vector<const Command*> all = commands();
  return std::any_of(all.begin(), all.end(),
                     [&](const Command* command) { return command->name.starts_with(std::string(word) + " "); });
}

void print_help(const Command& command, std::ostream& out) {
  out << "Usage: koordctl " << command.name << (command.arguments.empty() ? "" : " ") << command.arguments
      << (command.needed_options.empty() ? "" : " ") << command.needed_options << " [options]\n\n"
      << command.summary << "\n\n"
      << options_of(command);
}

// Returns for each argument of the command its word, in brackets if optional, and the option that receives it.
std::vector<std::pair<std::string, std::string>> positional_of(const Command& command) {
  std::vector<std::pair<std::string, std::string>> found;
  std::string_view words = command.arguments;
  while (auto word = next_field(words, ' '))
    found.emplace_back(*word, found.empty() ? "argument" : "argument-" + std::to_string(found.size() + 1));
  return found;
}

Result<po::variables_map> parse(const Command& command, const std::vector<std::string>& arguments) {
  po::options_description options = options_of(command);
  if (command.is_local) describe_socket(options);  // before the command, --socket is accepted for all commands
  po::positional_options_description positional;
  for (const auto& [word, option] : positional_of(command)) {
    options.add_options()(option.c_str(), po::value<std::string>());
    positional.add(option.c_str(), 1);
  }
  options.add_options()("unexpected", po::value<std::vector<std::string>>());
  positional.add("unexpected", -1);
  po::variables_map values;
  try {
    using namespace po::command_line_style;
    auto style = unix_style & ~allow_guessing;
    po::store(po::command_line_parser(arguments).options(options).positional(positional).style(style).run(), values);
  } catch (const po::error& error) {
    return invalid(error.what());
  }
  if (values.count("unexpected")) {
    const std::string expected = command.arguments.empty() ? "only options" : std::string(command.arguments);
    return invalid("unexpected argument '" + values["unexpected"].as<std::vector<std::string>>().front() +
                   "', expected " + expected);
  }
  for (const auto& [word, option] : positional_of(command))
    if (!word.starts_with('[') && !values.count(option) && !values.count("help"))
      return invalid("the argument " + word + " is missing");
  return values;
}

// Prints the error, without control characters, because a plugin may have written it.
int complain(std::string text, int status) {
  replace_control_characters(text, "\n");
  std::cerr << "koordctl: " << text << "\n";
  return status;
}

// Returns the absolute path of the socket. An address with a scheme or a port is returned unchanged.
std::string socket_of(const std::string& given) {
  std::error_code error;
  if (given.empty() || given.find(':') != std::string::npos) return given;
  const std::filesystem::path absolute = std::filesystem::absolute(given, error);
  return error ? given : absolute.string();
}

// Returns nullopt if the command has no such output form.
std::optional<Output> output_named(std::string_view name, const Command& command) {
  if (name == "table") return Output::table;
  if (name == "json") return Output::json;
  return name == "wide" && command.has_wide ? std::optional(Output::wide) : std::nullopt;
}

int run(const Command& command, const std::vector<std::string>& arguments) {
  std::string hint = "; see koordctl " + std::string(command.name) + " --help";
  Result<po::variables_map> values = parse(command, arguments);
  if (!values) return complain(values.error().message() + hint, 2);
  if (values->count("help")) {
    print_help(command, std::cout);
    return 0;
  }
  const std::string name = (*values)["output"].as<std::string>();
  const std::optional<Output> output = output_named(name, command);
  if (!output)
    return complain("--output '" + name + "' is " +
                        (command.has_wide ? "none of table, wide, json" : "neither table nor json") + hint,
                    2);

  JsonOutput escaped(std::cout);
  std::ostream json_out(&escaped);
  Invocation invocation{*values, socket_of((*values)["socket"].as<std::string>()), *output,
                        *output == Output::json ? json_out : std::cout};
  if (Result<void> done = command.run(invocation); !done) return complain(done.error().message(), 1);
  return std::cout.flush() ? 0 : 1;
}

bool is_option(const std::string& word) { return word.starts_with('-') && word != "--help" && word != "-h"; }

// Returns whether the option's value is the next word, as in "--socket PATH" and "-s PATH". In "--socket=PATH" and
// "-sPATH" it is not.
bool takes_next_word(const std::string& option) {
  return option.starts_with("--") ? option.find('=') == std::string::npos : option.size() == 2;
}

// Moves options after the command: `koordctl --socket PATH plugin info` becomes `koordctl plugin info --socket PATH`.
std::vector<std::string> command_first(std::vector<std::string> arguments) {
  auto command = arguments.begin();
  while (command != arguments.end() && is_option(*command))
    command += takes_next_word(*command) && command + 1 != arguments.end() ? 2 : 1;
  const auto options =
      std::find_if(command, arguments.end(), [](const std::string& word) { return word.starts_with('-'); });
  std::rotate(arguments.begin(), command, options);
  return arguments;
}

// Returns the number of arguments that the command's name consists of; 0 if the arguments do not begin with it.
std::size_t words_of(std::string_view name, const std::vector<std::string>& arguments) {
  std::size_t words = 0;
  while (auto word = next_field(name, ' ')) {
    if (words == arguments.size() || arguments[words] != *word) return 0;
    ++words;
  }
  return words;
}

// Prints an error with the unknown command and the most similar known command.
int complain_of_unknown(const std::string& words, const std::string& help) {
  std::vector<std::string> known;
  for (const Command* command : commands()) known.emplace_back(command->name);
  const std::string near = nearest(words, known);
  return complain("unknown command '" + words + "'" +
                      (near.empty() ? "; " + help + " lists them" : ", did you mean '" + near + "'?"),
                  2);
}

int main(const std::vector<std::string>& given) {
  std::vector<std::string> arguments = command_first(given);
  if (arguments.empty()) {
    print_usage(std::cerr);
    return 2;
  }
  if (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_usage(std::cout);
    return 0;
  }
  for (const Command* command : commands())
    if (std::size_t words = words_of(command->name, arguments))
      return run(*command, {arguments.begin() + static_cast<std::ptrdiff_t>(words), arguments.end()});
  if (is_group(arguments[0])) {
    const bool asks_for_help = arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h");
    if (arguments.size() > 1 && !arguments[1].starts_with('-'))
      return complain_of_unknown(arguments[0] + " " + arguments[1], "koordctl " + arguments[0] + " --help");
    (asks_for_help ? std::cout : std::cerr) << "Usage: koordctl " << arguments[0] << " COMMAND [options]\n\nCommands\n";
    print_commands(arguments[0], asks_for_help ? std::cout : std::cerr);
    return asks_for_help ? 0 : 2;
  }
  return complain_of_unknown(arguments[0], "koordctl --help");
}

}  // namespace
}  // namespace koord::ctl

int main(int argc, char** argv) { return koord::ctl::main({argv + 1, argv + argc}); }
