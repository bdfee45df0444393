// SPDX-License-Identifier: Apache-2.0
#include "exposition_checker.hpp"

#include <charconv>
#include <cmath>
#include <regex>
#include <set>
#include <vector>

namespace koord::test {
namespace {

const std::regex kHelp(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)*))");
const std::regex kType(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter|histogram|summary|untyped))");
const std::regex kLabel(R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\\\|\\"|\\n)*)"(,|$))re");
const std::regex kSample(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+))re");

class Reader {
 public:
  Exposition read(std::string_view text) {
    if (!text.empty() && text.back() != '\n') return {"the last line has no end", {}};
    while (!text.empty() && result_.error.empty()) {
      std::size_t end = text.find('\n');
      line(std::string(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    return std::move(result_);
  }

 private:
  void fail(const std::string& what, const std::string& line) { result_.error = what + ": " + line; }

  void line(const std::string& line) {
    std::smatch match;
    if (std::regex_match(line, match, kHelp))
      help(match[1], line);
    else if (std::regex_match(line, match, kType))
      type(match[1], match[2], line);
    else if (std::regex_match(line, match, kSample))
      sample(match, line);
    else
      fail("neither HELP nor TYPE nor a sample", line);
  }

  void help(const std::string& family, const std::string& line) {
    if (!families_.insert(family).second) fail("a second HELP", line);
    family_ = family;
    type_.clear();
  }

  void type(const std::string& family, const std::string& type, const std::string& line) {
    if (family != family_ || !type_.empty()) fail("TYPE not behind its HELP", line);
    type_ = type;
  }

  void sample(const std::smatch& match, const std::string& line) {
    std::string suffix = match[1].str().starts_with(family_) ? match[1].str().substr(family_.size()) : "?";
    bool fits = type_ == "histogram" ? suffix == "_bucket" || suffix == "_sum" || suffix == "_count" : suffix.empty();
    if (!fits || type_.empty()) return fail("a sample outside its family", line);
    if (!labels(match[2])) return fail("bad labels", line);
    const std::string number = match[3];
    double value;
    auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
    if (parsed.ptr != number.data() + number.size() || !std::isfinite(value)) return fail("bad value", line);
    std::string key = line.substr(0, line.size() - number.size() - 1);
    if (!result_.samples.emplace(key, value).second) fail("a second sample", line);
  }

  static bool labels(std::string text) {
    std::set<std::string> names;
    std::smatch match;
    while (!text.empty()) {
      if (!std::regex_search(text, match, kLabel, std::regex_constants::match_continuous)) return false;
      if (!names.insert(match[1]).second) return false;
      bool more = match[3] == ",";
      text = match.suffix();
      if (more && text.empty()) return false;
    }
    return true;
  }

  Exposition result_;
  std::set<std::string> families_;
  std::string family_, type_;
};

}  // namespace

Exposition read_exposition(std::string_view text) { return Reader().read(text); }

}  // namespace koord::test
