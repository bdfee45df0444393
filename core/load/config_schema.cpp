// SPDX-License-Identifier: Apache-2.0
#include "core/load/config_schema.hpp"

// Makes valijson throw for an invalid schema. Without it valijson ends the process.
#define VALIJSON_USE_EXCEPTIONS 1

#include <sys/resource.h>

#include <boost/json.hpp>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"
#include "core/json/reader.hpp"
#include "core/load/schema_check.hpp"
#include "core/load/trial.hpp"

namespace koord::load {
namespace {

using valijson::adapters::BoostJsonAdapter;

constexpr std::size_t kMaxReportedErrors = 3;
constexpr std::uint64_t kSchemaMemory = 64u << 20;  // limit for compiling and applying a third party's schema
constexpr Duration kSchemaPatience = std::chrono::seconds(1);

Result<boost::json::value> read_named(std::string_view what, std::string_view text) {
  Result<boost::json::value> value = read_json(text);
  if (!value) return std::move(value).error().context(what);
  return value;
}

// Converts the place of an error to a JSON pointer. valijson gives it as "<root>", "[limits]", "[cpu]".
std::string as_pointer(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view step = context[i];
    if (step.starts_with('[') && step.ends_with(']')) step = step.substr(1, step.size() - 2);
    pointer += '/';
    for (char c : step) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer.empty() ? "the whole" : pointer;
}

Error describe(valijson::ValidationResults& results) {
  std::vector<std::string> reported;
  // The innermost errors come first. Later errors only state that a part is invalid.
  for (const valijson::ValidationResults::Error& error : results) {
    if (reported.size() == kMaxReportedErrors) break;
    reported.push_back(as_pointer(error.context) + ": " + error.description);
  }
  return invalid("configuration: " + join(reported, "; "));
}

Result<void> validate(const boost::json::value& schema_json, const boost::json::value& config) {
  valijson::Schema schema;
  valijson::SchemaParser parser;
  BoostJsonAdapter schema_adapter(schema_json);
  // Throws for an invalid schema, and for a reference to a different document.
  parser.populateSchema(schema_adapter, schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  BoostJsonAdapter config_adapter(config);
  if (validator.validate(schema, config_adapter, &results)) return {};
  return describe(results);
}

// Returns the private memory of this process, as RLIMIT_DATA counts it.
Result<std::uint64_t> private_memory() {
  const std::vector<std::string> fields = split(TRY(read_file("/proc/self/statm")), ' ');
  if (fields.size() < 6)
    return invalid("/proc/self/statm has " + std::to_string(fields.size()) + " fields, expected 7");
  return TRY(parse_uint(fields[5])) * static_cast<std::uint64_t>(page_size());
}

}  // namespace

Result<void> check_config(std::string_view schema, std::string_view config_json) {
  boost::json::value config = TRY(read_named("configuration", config_json.empty() ? "{}" : config_json));
  if (!config.is_object()) return invalid("configuration: expected an object");
  if (schema.empty()) return {};
  if (schema.size() > kMaxSchemaBytes)
    return invalid("config_schema: " + std::to_string(schema.size()) + " bytes, expected at most " +
                   std::to_string(kMaxSchemaBytes));
  boost::json::value schema_json = TRY(read_named("config_schema", schema));
  const SchemaFacts facts = TRY(check_schema(schema_json));
  if (facts.has_patterns) TRY(check_matched_texts(config));
  try {
    return validate(schema_json, config);
  } catch (const std::bad_alloc&) {
    return invalid("config_schema: takes too much memory to apply");
  } catch (const std::exception& error) {
    return invalid(std::string("config_schema: ") + error.what());
  }
}

Result<void> check_config_in_child(std::string_view schema, std::string_view config_json) {
  if (schema.empty()) return check_config(schema, config_json);
  const rlim_t memory = TRY(private_memory()) + kSchemaMemory;
  const auto check = [&]() -> Result<void> {
    const rlimit limit{memory, memory};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return system_error(errno, "cannot limit the memory of its check");
    return check_config(schema, config_json);
  };
  Result<void> fine = try_in_child(check, kSchemaPatience);
  if (fine || fine.error().message().starts_with("config")) return fine;
  return invalid("config_schema: cannot be applied: " + fine.error().message());
}

}  // namespace koord::load
