// SPDX-License-Identifier: Apache-2.0
// A temporary folder for a test, removed with its content.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace koord::test {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "koord-test-predict-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace koord::test
