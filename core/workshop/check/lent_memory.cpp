// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/lent_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace koord::check {
namespace {

constexpr std::size_t kBytes = 4u << 20;
// Fills the bytes after the known part of a record. A pointer or length of these bytes is invalid.
constexpr int kFiller = 0xa5;

}  // namespace

LentMemory::LentMemory(Lending terms) : terms_(terms) {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to lend");
  memory_ = static_cast<std::byte*>(memory);
}

LentMemory::~LentMemory() {
  if (terms_ == Lending::plainly) ::munmap(memory_, kBytes);
}

void* LentMemory::take(std::size_t size) {
  const std::size_t begin = (used_ + 15) & ~std::size_t{15};
  if (size > kBytes - begin) throw std::runtime_error("more is lent than there is");
  used_ = begin + size;
  return memory_ + begin;
}

template <class T>
T* LentMemory::copy(const T* first, std::uint32_t n) {
  void* to = take(sizeof(T) * std::max<std::uint32_t>(n, 1));
  if (n > 0) std::memcpy(to, first, sizeof(T) * n);
  return static_cast<T*>(to);
}

template <class Record>
Record* LentMemory::at(Record* first, std::uint32_t i) const {
  return reinterpret_cast<Record*>(reinterpret_cast<std::byte*>(first) + std::size_t{i} * stride<Record>());
}

template <class Record>
Record* LentMemory::copy_records(const Record* first, std::uint32_t n, std::uint32_t from_stride) {
  const std::size_t size = std::size_t{stride<Record>()} * std::max<std::uint32_t>(n, 1);
  auto* to = static_cast<Record*>(take(size));
  std::memset(static_cast<void*>(to), kFiller, size);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::memcpy(at(to, i), reinterpret_cast<const std::byte*>(first) + std::size_t{i} * from_stride, sizeof(Record));
    at(to, i)->struct_size = stride<Record>();
  }
  return to;
}

koord_str LentMemory::lend(std::string_view text) {
  return {copy(text.data(), static_cast<std::uint32_t>(text.size())), text.size()};
}

const koord_label* LentMemory::lend(const koord_label* labels, std::uint32_t n) {
  koord_label* copied = copy(labels, n);
  for (std::uint32_t i = 0; i < n; ++i) copied[i] = {lend(labels[i].key), lend(labels[i].value)};
  return copied;
}

const koord_resource* LentMemory::lend(const koord_resource* resources, std::uint32_t n, std::uint32_t from_stride) {
  koord_resource* copied = copy_records(resources, n, from_stride);
  for (std::uint32_t i = 0; i < n; ++i) at(copied, i)->name = lend(at(copied, i)->name);
  return copied;
}

const koord_container* LentMemory::lend(const koord_container* containers, std::uint32_t n, std::uint32_t from_stride) {
  koord_container* copied = copy_records(containers, n, from_stride);
  for (std::uint32_t i = 0; i < n; ++i) {
    koord_container& one = *at(copied, i);
    one.id = lend(one.id);
    one.name = lend(one.name);
    one.cgroup_dir = lend(one.cgroup_dir);
    one.resources = lend(one.resources, one.n_resources, one.resource_stride);
    one.resource_stride = stride<koord_resource>();
  }
  return copied;
}

const koord_pod* LentMemory::lend(const koord_pod* pods, std::uint32_t n, std::uint32_t from_stride) {
  koord_pod* copied = copy_records(pods, n, from_stride);
  for (std::uint32_t i = 0; i < n; ++i) {
    koord_pod& pod = *at(copied, i);
    for (koord_str* text : {&pod.uid, &pod.ns, &pod.name, &pod.cgroup_dir, &pod.owner_kind, &pod.owner_name})
      *text = lend(*text);
    pod.labels = lend(pod.labels, pod.n_labels);
    pod.annotations = lend(pod.annotations, pod.n_annotations);
    pod.resources = lend(pod.resources, pod.n_resources, pod.resource_stride);
    pod.containers = lend(pod.containers, pod.n_containers, pod.container_stride);
    pod.resource_stride = stride<koord_resource>();
    pod.container_stride = stride<koord_container>();
  }
  return copied;
}

const koord_node* LentMemory::lend(const koord_node* node) {
  if (!node) return nullptr;
  koord_node* copied = copy_records(node, 1, sizeof *node);
  copied->name = lend(copied->name);
  copied->labels = lend(copied->labels, copied->n_labels);
  copied->annotations = lend(copied->annotations, copied->n_annotations);
  copied->resources = lend(copied->resources, copied->n_resources, copied->resource_stride);
  copied->resource_stride = stride<koord_resource>();
  return copied;
}

const koord_topology* LentMemory::lend(const koord_topology* topology) {
  if (!topology) return nullptr;
  koord_topology* copied = copy_records(topology, 1, sizeof *topology);
  copied->cpus = copy(topology->cpus, topology->n_cpus);
  copied->numa_nodes = copy(topology->numa_nodes, topology->n_numa_nodes);
  return copied;
}

const koord_intent_result* LentMemory::lend(const koord_intent_result* results, std::uint32_t n) {
  koord_intent_result* copied = copy_records(results, n, sizeof *results);
  for (std::uint32_t i = 0; i < n; ++i)
    for (koord_str* text :
         {&at(copied, i)->knob, &at(copied, i)->cgroup_dir, &at(copied, i)->final_value, &at(copied, i)->winner})
      *text = lend(*text);
  return copied;
}

void LentMemory::seal() {
  if (terms_ == Lending::read_only) ::mprotect(memory_, kBytes, PROT_READ);
}

void LentMemory::take_back() {
  if (terms_ == Lending::until_back) ::mprotect(memory_, kBytes, PROT_NONE);
}

}  // namespace koord::check
