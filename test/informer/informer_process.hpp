// SPDX-License-Identifier: Apache-2.0
// An informer of the real client-go (test/informer/program) as a process.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/child_process.hpp"
#include "test/support/eventually.hpp"

namespace koord::test {

// Returns the program that KOORD_INFORMER names. If it is not built, prints a line and returns "".
inline std::string informer_program() {
  const char* program = std::getenv("KOORD_INFORMER");
  if (program != nullptr && std::filesystem::exists(program) && std::filesystem::file_size(program) > 0) return program;
  std::puts("SKIPPED: test/informer is not built: it needs go 1.24 and its modules");
  return {};
}

// Runs the program with its output in a file. Requests to it go through a named pipe.
class InformerProcess {
 public:
  // `arguments`: of the program.
  InformerProcess(const std::string& program, const std::vector<std::string>& arguments) {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    REQUIRE(::mkfifo((folder_ + "/ask").c_str(), 0600) == 0);
    std::vector<std::string> command = {"/bin/sh",        "-c",   "pipe=$1; shift; exec \"$@\" < \"$pipe\"", "sh",
                                        folder_ + "/ask", program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    process_ = std::make_unique<ChildProcess>(command, folder_ + "/output");
    ask_ = ::open((folder_ + "/ask").c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(ask_ >= 0);
  }
  ~InformerProcess() {
    ::close(ask_);
    process_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string output() const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/output").rdbuf();
    return text.str();
  }
  bool has(std::string_view line) const { return output().find(std::string(line) + "\n") != std::string::npos; }
  // Returns the lines of all objects that the informer has now.
  std::string objects() {
    const std::size_t begin = output().size();
    REQUIRE(::write(ask_, "\n", 1) == 1);
    REQUIRE(eventually([&] { return output().substr(begin).find("=\n") != std::string::npos; }));
    std::istringstream lines(output().substr(begin));
    std::string objects;
    for (std::string line; std::getline(lines, line) && line != "=";)
      if (line.starts_with("= ")) objects += line + "\n";
    return objects;
  }

 private:
  std::string folder_ = (std::filesystem::temp_directory_path() / "koord-informer-XXXXXX").string();
  std::unique_ptr<ChildProcess> process_;
  int ask_ = -1;
};

}  // namespace koord::test
