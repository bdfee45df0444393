// SPDX-License-Identifier: Apache-2.0
// Checkpoint files of koord-cri-proxy, of any content: an accepted checkpoint can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/criproxy/checkpoints.hpp"
#include "core/criproxy/cri.pb.h"

using namespace koord::criproxy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The input as a file, and as the content of a file with a correct checksum.
  if (const auto checkpoint = read_checkpoint(text); checkpoint && !read_checkpoint(checkpoint_text(*checkpoint)))
    std::abort();
  wire::Checkpoint checkpoint;
  if (size < kMaxCheckpointBytes && checkpoint.ParseFromArray(data, static_cast<int>(size)) &&
      !read_checkpoint(checkpoint_text(checkpoint)))
    std::abort();
  if (is_file_name(text) && text.find('/') != std::string_view::npos) std::abort();
  return 0;
}
