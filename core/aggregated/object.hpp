// SPDX-License-Identifier: Apache-2.0
// Object: one version of a NodeMetric, encoded once when it is written. The status, which is most of the text, is
// stored compressed; readers build the whole text. An object is immutable after Store::put(). [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/aggregated/compressed_text.hpp"
#include "core/aggregated/version.hpp"
#include "core/base/result.hpp"

namespace koord::aggregated {

using Labels = std::map<std::string, std::string, std::less<>>;

// The parts of an object that a writer sets, as JSON texts.
struct Content {
  Labels labels, annotations;
  std::string owners;        // ownerReferences as a list; empty: none
  std::string spec, status;  // mappings; empty: none
};

// The cells of a table row besides name and age.
struct Cells {
  std::string cpu, memory, updated;
};

struct Identifiers {
  std::string name, uid;
  std::int64_t created_seconds = 0;  // wall clock, since the Unix epoch
  std::int64_t generation = 1;       // increases with each change of the spec
};

class Object {
 public:
  // Encodes the object, with a version of zeros.
  static std::shared_ptr<Object> make(Identifiers identifiers, const Content& content, Cells cells);
  // Returns a copy, which gets a new version for the event of the deletion.
  std::shared_ptr<Object> copy() const;
  // Writes the version into the head. Call it only before the object is shared.
  void set_version(Version version);
  // Returns the same text as event_text(), without decompression. Call it once, before the object is shared.
  std::string take_event_text();

  const Identifiers& identifiers() const { return identifiers_; }
  const std::string& name() const { return identifiers_.name; }
  const Labels& labels() const { return labels_; }
  const Cells& cells() const { return cells_; }
  Version version() const { return version_; }

  std::string_view metadata() const { return part(metadata_); }
  std::string_view spec() const { return part(spec_); }
  std::string_view owners() const { return part(owners_); }
  std::string_view annotations() const { return part(annotations_); }
  const CompressedText& kept_status() const { return status_; }
  std::size_t bytes() const { return head_.size() + status_.size() + kEnd.size() + kEventEnd.size(); }

  // The end of a line of a watch. The whole line is `{"type":…,"object":`, the text, and this end.
  static constexpr std::string_view kEventEnd = "}\n";

  // These functions decompress the status. They fail if it was damaged in memory.
  Result<std::string> status() const;
  Result<std::string> json() const;
  Result<std::string> event_text() const;  // json() + kEventEnd

  // Set by the store: the version of the creation, of the last change of the labels, and of the last change of metadata
  // or spec.
  Version created = 0, labelled = 0, described = 0;

 private:
  friend struct PlainObject;
  struct Part {
    std::uint32_t at = 0, size = 0;
  };
  class Encoder;

  static constexpr std::string_view kEnd = "}";  // the text after the status
  std::string_view part(Part part) const { return std::string_view(head_).substr(part.at, part.size); }
  std::string event_text_with(std::string_view status) const;

  Identifiers identifiers_;
  Labels labels_;
  Cells cells_;
  Version version_ = 0;
  std::string head_;  // everything before the status
  CompressedText status_;
  std::string plain_status_;  // empty after take_event_text()
  std::uint32_t version_at_ = 0;
  Part metadata_, spec_, owners_, annotations_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// An object with its text, which other readers may share.
struct PlainObject {
  ObjectPtr object;
  std::shared_ptr<const std::string> event_text;

  std::string_view json() const;
  std::string_view status() const;
};

}  // namespace koord::aggregated
