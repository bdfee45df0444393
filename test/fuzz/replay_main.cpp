// SPDX-License-Identifier: Apache-2.0
// Replaces libFuzzer in a normal build: passes every file of the directory argv[1] to the fuzz target once. Fails if
// the directory has no files, so a missing seed folder is noticed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string input(std::istreambuf_iterator<char>(in), {});
  std::printf("%s: %zu bytes\n", file.filename().c_str(), input.size());
  std::fflush(stdout);  // if the target aborts, the last line names the input
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SEED-DIRECTORY\n", argv[0]);
    return 2;
  }
  std::size_t replayed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    replay(entry.path());
    ++replayed;
  }
  if (replayed == 0) std::fprintf(stderr, "no seeds in '%s': %s\n", argv[1], error.message().c_str());
  return replayed == 0 ? 1 : 0;
}
