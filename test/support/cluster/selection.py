# SPDX-License-Identifier: Apache-2.0
"""Label and field selectors: makes predicates of objects from text."""
import re

from . import status

_SET = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")
_EQUALITY = re.compile(r"^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$")


def at(obj, path):
    """Returns the value at "a.b.c", or None."""
    for step in path.split("."):
        if not isinstance(obj, dict):
            return None
        obj = obj.get(step)
    return obj


def _requirements(text):
    depth, word = 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield word.strip()
            word = ""
        else:
            word += letter
    yield word.strip()


def _label_requirement(text):
    if match := _SET.match(text):
        key, operator, values = match.groups()
        chosen = {value.strip() for value in values.split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in chosen
        return lambda labels: labels.get(key) not in chosen
    if match := _EQUALITY.match(text):
        key, operator, value = match.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if re.fullmatch(r"!\s*\S+", text):
        key = text[1:].strip()
        return lambda labels: key not in labels
    if re.fullmatch(r"[^\s=!()]+", text):
        return lambda labels: text in labels
    raise status.bad_request(f"unable to parse requirement: {text!r}")


def labels(text):
    parts = [_label_requirement(part) for part in _requirements(text)] if text else []
    return lambda obj: all(part(obj["metadata"].get("labels") or {}) for part in parts)


def fields(kind, text):
    wanted = []
    for part in filter(None, text.split(",")):
        match = _EQUALITY.match(part.strip())
        if not match:
            raise status.bad_request(f"invalid field selector: {part!r}")
        field, operator, value = match.groups()
        if field not in kind.fields:
            raise status.bad_request(f'field label not supported: {field}')
        wanted.append((field, operator != "!=", value))
    def holds(obj):
        return all((str(at(obj, field) or "") == value) == equal for field, equal, value in wanted)
    return holds


def both(kind, query):
    by_label, by_field = labels(query.get("labelSelector", "")), fields(kind, query.get("fieldSelector", ""))
    return lambda obj: by_label(obj) and by_field(obj)
