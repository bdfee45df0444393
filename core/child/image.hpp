// SPDX-License-Identifier: Apache-2.0
// Records of the plugin ABI, with all that they point to, as one piece of memory that can go to another process. In an
// image a pointer is an offset; opening it turns all of them into addresses, once. The host makes images, the child
// opens them and trusts them. An Image owns its memory, so records of it live as long as the Image. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "koordetector/plugin.h"

namespace koord::service {
class SnapshotView;
}  // namespace koord::service

namespace koord::child {

// The parts of a snapshot, each with a version.
inline constexpr std::uint32_t kParts[] = {KOORD_ON_NODE, KOORD_ON_PODS, KOORD_ON_NODE_SLO, KOORD_ON_TOPOLOGY};

// The beginning of an image; absent parts are null or empty.
struct ImageRoot {
  std::uint64_t versions[std::size(kParts)];
  const koord_node* node;
  const koord_topology* topology;
  const koord_pod* pods;
  const koord_container* containers;  // of a snapshot those outside pods; of a hook's request the one it is about
  koord_str node_slo;
  std::uint32_t n_pods, n_containers;
  const std::uint64_t* pointers;  // where in the image there are some, this one included
  std::uint64_t n_pointers;
};

// The image of a whole snapshot, or of the subject of a runtime hook.
std::string image_of(const service::SnapshotView& view);
std::string image_of(const koord_pod& pod, const koord_container* container);
class Image {
 public:
  static Result<Image> open(UniqueFd fd);  // maps it, privately
  static Result<Image> open(std::string bytes);

  const ImageRoot& root() const { return *reinterpret_cast<const ImageRoot*>(memory_.get()); }

 private:
  using Memory = std::unique_ptr<unsigned char, std::function<void(unsigned char*)>>;
  static Result<Image> rebase(Memory memory, std::size_t size);
  explicit Image(Memory memory) : memory_(std::move(memory)) {}

  Memory memory_;
};

}  // namespace koord::child
