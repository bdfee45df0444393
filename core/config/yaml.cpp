// SPDX-License-Identifier: Apache-2.0
#include "core/config/yaml.hpp"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <istream>
#include <memory>
#include <streambuf>

#include "core/config/node_builder.hpp"

namespace koord::config {
namespace {

// Reads the text in place, without a copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // setg() needs it, but only reads
    setg(begin, begin, begin + text.size());
  }
};

Error refusal(const Place& place, const std::string& text) { return invalid(text + " at " + place.text()); }

}  // namespace

Result<Node> read_yaml(std::string_view text, const std::string& source, Report& report, YamlLimits limits) {
  auto shared_source = std::make_shared<const std::string>(source);
  if (text.size() > limits.bytes)
    return refusal({shared_source}, "there are more than " + std::to_string(limits.bytes) + " bytes");
  NodeBuilder builder(shared_source, report, limits.values);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const Refused& refused) {
    return refusal(refused.place, refused.text);
  } catch (const YAML::Exception& error) {
    return refusal(builder.place_of(error.mark), "not valid YAML: " + error.msg);
  } catch (const std::exception& error) {
    return refusal({shared_source}, std::string("not valid YAML: ") + error.what());
  }
}

}  // namespace koord::config
