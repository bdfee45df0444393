// SPDX-License-Identifier: Apache-2.0
// Object: one version of a NodeMetric, encoded once when it is written. Its status, which is nearly all of the text, is
// kept compressed; readers put the text together. It never changes after Store::put(). [any thread]
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

// The parts of an object that a writer decides; JSON texts.
struct Content {
  Labels labels, annotations;
  std::string owners;        // ownerReferences, a list; empty: none
  std::string spec, status;  // mappings; an empty text: none
};

// The cells of a table beside name and age.
struct Cells {
  std::string cpu, memory, updated;
};

struct Identifiers {
  std::string name, uid;
  std::int64_t created_seconds = 0;  // wall clock, since the Unix epoch
  std::int64_t generation = 1;       // grows when the spec changes
};

class Object {
 public:
  // Encodes it, with a version of zeros.
  static std::shared_ptr<Object> make(Identifiers identifiers, const Content& content, Cells cells);
  // The same with another version, for the event of its deletion.
  std::shared_ptr<Object> copy() const;
  // Writes the version into the head. Only before it is shared.
  void set_version(Version version);
  // Returns the text as event_text() does, but unpacks nothing. Only before it is shared, and once.
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

  // The end of the line of a watch: `{"type":…,"object":` before the text makes the whole line.
  static constexpr std::string_view kEventEnd = "}\n";

  // These unpack the status. They fail if it was damaged in memory.
  Result<std::string> status() const;
  Result<std::string> json() const;
  Result<std::string> event_text() const;  // json() and kEventEnd

  // Set by the store: the versions of its creation, of the last change of its labels, and of the last change of its
  // metadata or spec.
  Version created = 0, labelled = 0, described = 0;

 private:
  friend struct PlainObject;
  struct Part {
    std::uint32_t at = 0, size = 0;
  };
  class Encoder;

  static constexpr std::string_view kEnd = "}";  // behind the status
  std::string_view part(Part part) const { return std::string_view(head_).substr(part.at, part.size); }
  std::string event_text_with(std::string_view status) const;

  Identifiers identifiers_;
  Labels labels_;
  Cells cells_;
  Version version_ = 0;
  std::string head_;  // all before the status
  CompressedText status_;
  std::string plain_status_;  // until take_event_text()
  std::uint32_t version_at_ = 0;
  Part metadata_, spec_, owners_, annotations_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// An object with its text, perhaps shared with other readers.
struct PlainObject {
  ObjectPtr object;
  std::shared_ptr<const std::string> event_text;

  std::string_view json() const;
  std::string_view status() const;
};

}  // namespace koord::aggregated
