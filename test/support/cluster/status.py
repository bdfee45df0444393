# SPDX-License-Identifier: Apache-2.0
"""Refusals of the API server, as objects of kind Status."""


class Refusal(Exception):
    def __init__(self, code, reason, message, details=None, headers=None):
        super().__init__(message)
        self.code = code
        self.headers = headers or {}
        self.body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                     "reason": reason, "details": details or {}, "code": code}


class PlainRefusal(Exception):
    """A refusal before any object is read."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
        self.text = text


def _object(kind, name):
    return {"name": name, "group": kind.group, "kind": kind.plural}


def bad_request(message):
    return Refusal(400, "BadRequest", message)


def unauthorized():
    return Refusal(401, "Unauthorized", "Unauthorized")


def forbidden(kind, name, user, verb, namespace):
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return Refusal(403, "Forbidden",
                   f'{subject} is forbidden: User "{user}" cannot {verb} resource "{kind.plural}" in API group '
                   f'"{kind.group}" {where}', _object(kind, name))


def not_found(kind, name):
    return Refusal(404, "NotFound", f'{kind.resource} "{name}" not found', _object(kind, name))


def already_exists(kind, name):
    return Refusal(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', _object(kind, name))


def conflict(kind, name, why="the object has been modified; please apply your changes to the latest version and try again"):
    return Refusal(409, "Conflict", f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}',
                   _object(kind, name))


def expired(message):
    return Refusal(410, "Expired", message)


def unsupported_media_type(content_type, known):
    return Refusal(415, "UnsupportedMediaType",
                   f"the body of the request was in an unknown format ({content_type}) - accepted media types include: "
                   f"{', '.join(known)}")


def invalid_fields(kind, name, causes):
    """Returns a refusal for several fields; each cause names one field."""
    texts = [f"{cause['field']}: {cause['message']}" for cause in causes]
    text = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details = {"name": name, "group": kind.group, "kind": kind.name, "causes": causes}
    return Refusal(422, "Invalid", f'{kind.name}.{kind.group or "core"} "{name}" is invalid: {text}', details)


def invalid(kind, name, field, value, why):
    what = f"{field}: {value}: {why}" if value is not None else f"{field}: {why}"
    details = {"name": name, "group": kind.group, "kind": kind.name,
               "causes": [{"reason": "FieldValueInvalid", "message": what, "field": field}]}
    return Refusal(422, "Invalid", f'{kind.name}.{kind.group or "core"} "{name}" is invalid: {what}', details)


def too_many_requests(seconds, message="the server has received too many requests and has asked us to try again later",
                      details=None):
    details = dict(details or {})
    if seconds:
        details["retryAfterSeconds"] = seconds
    return Refusal(429, "TooManyRequests", message, details, {"Retry-After": str(seconds)} if seconds else None)


def too_large_version(asked, current):
    return Refusal(504, "Timeout", f"Too large resource version: {asked}, current: {current}",
                   {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                    "retryAfterSeconds": 1}, {"Retry-After": "1"})
