// SPDX-License-Identifier: Apache-2.0
// JsonOutput: a stream for JSON text that escapes control characters which JSON allows and terminals obey: DEL and C1,
// U+0080 to U+009F. [one thread]
#pragma once

#include <ostream>
#include <streambuf>

namespace koord::ctl {

class JsonOutput : public std::streambuf {
 public:
  // `to` must outlive this object.
  explicit JsonOutput(std::ostream& to) : to_(to) {}
  ~JsonOutput() override { end_character(); }
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void put(char byte);
  void end_character();

  std::ostream& to_;
  bool has_first_byte_ = false;  // 0xC2, which begins the C1 characters in UTF-8
};

}  // namespace koord::ctl
