// SPDX-License-Identifier: Apache-2.0
// ObjectSet: the objects of one collection, from pages of lists and changes of a watch, and the differences from
// before. It keeps a text made of each object, so that a caller that needs one field of many objects does not hold them
// all. Bounded: an excess is an error, and the known objects stay as they were. Pure. [one thread]
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/object.hpp"

namespace koord::kube {

struct KeptObject {
  std::string name;
  std::string name_space;
  std::string uid;
  std::string resource_version;
  std::string text;
};
using KeptObjectPtr = std::shared_ptr<const KeptObject>;

// By "namespace/name", or "name" of what belongs to the cluster.
using Objects = std::map<std::string, KeptObjectPtr, std::less<>>;
std::string key_of(const std::string& name_space, const std::string& name);
std::string key_of(const KeptObject& object);

// Returns the part of an object to keep; empty: its JSON as it came. [any thread]
using Keep = std::function<std::string(const ObjectView&)>;
KeptObjectPtr keep(const ObjectView& object, const Keep& what);

struct Difference {
  std::vector<std::string> changed;  // keys of what is new or has another text or uid
  std::vector<std::string> removed;

  bool empty() const { return changed.empty() && removed.empty(); }
};

class ObjectSet {
 public:
  struct Limits {
    std::size_t objects = 50'000;
    std::size_t bytes = 64u << 20;  // of texts and names
  };

  explicit ObjectSet(Limits limits) : limits_(limits) {}

  // Pages of one list, in order; with the last one they become what there is.
  Result<Difference> page(std::vector<KeptObjectPtr> objects, bool first, bool last);
  Result<Difference> put(KeptObjectPtr object);
  Difference remove(const std::string& key);
  Difference clear();

  const Objects& objects() const { return objects_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Result<void> check(std::size_t objects, std::size_t bytes) const;

  Limits limits_;
  Objects objects_;
  std::size_t bytes_ = 0;
  Objects coming_;  // of the list that is under way
  std::size_t coming_bytes_ = 0;
};

}  // namespace koord::kube
