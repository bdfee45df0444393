// SPDX-License-Identifier: Apache-2.0
#include "core/child/image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/service/snapshot_view.hpp"

namespace koord::child {
namespace {

// Writes records one after the other. The targets of a record's pointers are written before or after it; point() then
// sets the pointers.
class ImageLayout {
 public:
  // Must be called first.
  void begin(const ImageRoot& root) { put(root); }

  // Appends the record and returns its offset.
  template <class Record>
  std::uint64_t put(const Record& record) {
    return put_array(&record, 1);
  }
  // Appends elements in the size that this build knows. `stride` is their size in the given array.
  template <class Record>
  std::uint64_t put_array(const Record* first, std::uint32_t n, std::uint32_t stride = sizeof(Record)) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    std::uint64_t at = bytes_.size();
    for (std::uint32_t i = 0; i < n; ++i)
      bytes_.append(reinterpret_cast<const char*>(first) + std::size_t{i} * stride, sizeof(Record));
    return at;
  }

  // Sets the pointer at the offset `place` to the offset `target`.
  void point(std::uint64_t place, std::uint64_t target) {
    std::memcpy(bytes_.data() + place, &target, sizeof target);
    pointers_.push_back(place);
  }

  void text(std::uint64_t place, koord_str text) {
    if (text.n == 0) return point(place, 0);  // an empty text needs a pointer that is not null
    std::uint64_t at = bytes_.size();
    bytes_.append(text.p, text.n);
    point(place, at);
  }

  void labels(std::uint64_t place, const koord_label* labels, std::uint32_t n, std::uint32_t stride) {
    std::uint64_t first = put_array(labels, n, stride);
    point(place, first);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t at = first + i * sizeof(koord_label);
      text(at + offsetof(koord_label, key), labels[i].key);
      text(at + offsetof(koord_label, value), labels[i].value);
    }
  }

  void resources(std::uint64_t place, const koord_resource* resources, std::uint32_t n) {
    std::uint64_t first = put_array(resources, n);
    point(place, first);
    for (std::uint32_t i = 0; i < n; ++i)
      text(first + i * sizeof(koord_resource) + offsetof(koord_resource, name), resources[i].name);
  }

  void containers(std::uint64_t place, const koord_container* containers, std::uint32_t n) {
    std::uint64_t first = put_array(containers, n);
    point(place, first);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t at = first + i * sizeof(koord_container);
      text(at + offsetof(koord_container, id), containers[i].id);
      text(at + offsetof(koord_container, name), containers[i].name);
      text(at + offsetof(koord_container, cgroup_dir), containers[i].cgroup_dir);
      resources(at + offsetof(koord_container, resources), containers[i].resources, containers[i].n_resources);
    }
  }

  void pods(std::uint64_t place, const koord_pod* pods, std::uint32_t n) {
    std::uint64_t first = put_array(pods, n);
    point(place, first);
    for (std::uint32_t i = 0; i < n; ++i) pod(first + i * sizeof(koord_pod), pods[i]);
  }

  void node(std::uint64_t place, const koord_node& node) {
    std::uint64_t at = put(node);
    point(place, at);
    text(at + offsetof(koord_node, name), node.name);
    labels(at + offsetof(koord_node, labels), node.labels, node.n_labels, node.label_stride);
    labels(at + offsetof(koord_node, annotations), node.annotations, node.n_annotations, node.label_stride);
    resources(at + offsetof(koord_node, resources), node.resources, node.n_resources);
  }

  void topology(std::uint64_t place, const koord_topology& topology) {
    std::uint64_t at = put(topology);
    point(place, at);
    point(at + offsetof(koord_topology, cpus), put_array(topology.cpus, topology.n_cpus, topology.cpu_stride));
    point(at + offsetof(koord_topology, numa_nodes),
          put_array(topology.numa_nodes, topology.n_numa_nodes, topology.numa_node_stride));
  }

  std::string finish() {
    point(offsetof(ImageRoot, pointers), 0);
    std::uint64_t n = pointers_.size(), at = put_array(pointers_.data(), static_cast<std::uint32_t>(n));
    std::memcpy(bytes_.data() + offsetof(ImageRoot, pointers), &at, sizeof at);
    std::memcpy(bytes_.data() + offsetof(ImageRoot, n_pointers), &n, sizeof n);
    return std::move(bytes_);
  }

 private:
  void pod(std::uint64_t at, const koord_pod& pod) {
    text(at + offsetof(koord_pod, uid), pod.uid);
    text(at + offsetof(koord_pod, ns), pod.ns);
    text(at + offsetof(koord_pod, name), pod.name);
    text(at + offsetof(koord_pod, cgroup_dir), pod.cgroup_dir);
    text(at + offsetof(koord_pod, owner_kind), pod.owner_kind);
    text(at + offsetof(koord_pod, owner_name), pod.owner_name);
    labels(at + offsetof(koord_pod, labels), pod.labels, pod.n_labels, pod.label_stride);
    labels(at + offsetof(koord_pod, annotations), pod.annotations, pod.n_annotations, pod.label_stride);
    resources(at + offsetof(koord_pod, resources), pod.resources, pod.n_resources);
    containers(at + offsetof(koord_pod, containers), pod.containers, pod.n_containers);
  }

  std::string bytes_;
  std::vector<std::uint64_t> pointers_;
};

}  // namespace

std::string image_of(const service::SnapshotView& view) {
  ImageLayout layout;
  ImageRoot root{};
  for (std::size_t i = 0; i < std::size(kParts); ++i) root.versions[i] = view.version(kParts[i]);
  root.n_pods = static_cast<std::uint32_t>(view.pods().size());
  root.n_containers = static_cast<std::uint32_t>(view.standalone().size());
  root.node_slo.n = view.node_slo().n;
  layout.begin(root);
  if (view.node()) layout.node(offsetof(ImageRoot, node), *view.node());
  if (view.topology()) layout.topology(offsetof(ImageRoot, topology), *view.topology());
  layout.pods(offsetof(ImageRoot, pods), view.pods().data(), root.n_pods);
  layout.containers(offsetof(ImageRoot, containers), view.standalone().data(), root.n_containers);
  layout.text(offsetof(ImageRoot, node_slo), view.node_slo());
  return layout.finish();
}

std::string image_of(const koord_pod& pod, const koord_container* container) {
  ImageLayout layout;
  ImageRoot root{};
  root.n_pods = 1;
  root.n_containers = container ? 1 : 0;
  layout.begin(root);
  layout.pods(offsetof(ImageRoot, pods), &pod, 1);
  layout.containers(offsetof(ImageRoot, containers), container, root.n_containers);
  return layout.finish();
}

Result<Image> Image::open(UniqueFd fd) {
  struct stat about;
  if (::fstat(fd.get(), &about) != 0) return system_error(errno, "image of the state");
  auto size = static_cast<std::size_t>(about.st_size);
  // Maps privately, because the pointers become addresses of this process. Pages without pointers stay shared.
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
  if (memory == MAP_FAILED) return system_error(errno, "image of the state");
  return rebase(Memory(static_cast<unsigned char*>(memory), [size](unsigned char* p) { ::munmap(p, size); }), size);
}

Result<Image> Image::open(std::string bytes) {
  auto* words = new std::uint64_t[(bytes.size() + 7) / 8];
  std::memcpy(words, bytes.data(), bytes.size());
  Memory memory(reinterpret_cast<unsigned char*>(words),
                [](unsigned char* p) { delete[] reinterpret_cast<std::uint64_t*>(p); });
  return rebase(std::move(memory), bytes.size());
}

Result<Image> Image::rebase(Memory memory, std::size_t size) {
  if (size < sizeof(ImageRoot)) return invalid("an image of " + std::to_string(size) + " bytes");
  auto base = reinterpret_cast<std::uint64_t>(memory.get());
  const auto& root = *reinterpret_cast<const ImageRoot*>(memory.get());
  auto places = reinterpret_cast<std::uint64_t>(root.pointers);
  std::uint64_t n = root.n_pointers;
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t place, target;
    std::memcpy(&place, memory.get() + places + i * sizeof place, sizeof place);
    std::memcpy(&target, memory.get() + place, sizeof target);
    target += base;
    std::memcpy(memory.get() + place, &target, sizeof target);
  }
  return Image(std::move(memory));
}

}  // namespace koord::child
