# SPDX-License-Identifier: Apache-2.0
"""Protobuf for the test's CRI client. A schema is text:  Message field=NUMBER[:type] ...

Types: s text (the default), i number, b bool, map (texts to texts), or another message; a leading * means a list. An
indented line continues the message above. Messages are dicts. Fields that are not in the schema are skipped.
"""


def schema(text):
    messages, current = {}, None
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if not line[0].isspace():
            current = messages.setdefault(words.pop(0), {})
        for word in words:
            name, _, rest = word.partition('=')
            number, _, kind = rest.partition(':')
            current[name] = (int(number), kind.lstrip('*') or 's', kind.startswith('*'))
    return messages


def _varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(messages, number, kind, value):
    if kind in 'ib':
        return _varint(number << 3) + _varint(int(value))
    data = value.encode() if kind == 's' else encode(messages, kind, value)
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _map_entry(number, key, value):
    data = _field({}, 1, 's', key) + _field({}, 2, 's', value)
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def encode(messages, message, fields):
    out = b''
    for name, value in fields.items():
        number, kind, repeated = messages[message][name]
        if kind == 'map':
            out += b''.join(_map_entry(number, *entry) for entry in value.items())
        else:
            out += b''.join(_field(messages, number, kind, each) for each in (value if repeated else [value]))
    return out


def _read_varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _values(data):
    """Yields the number and value of each field."""
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        if tag & 7 == 0:
            value, position = _read_varint(data, position)
        else:
            size, position = {1: (8, position), 5: (4, position)}.get(tag & 7) or _read_varint(data, position)
            value, position = data[position:position + size], position + size
        yield tag >> 3, value


def decode(messages, message, data):
    names = {number: (name, kind, repeated) for name, (number, kind, repeated) in messages[message].items()}
    out = {}
    for number, value in _values(data):
        name, kind, repeated = names.get(number, (None, None, None))
        if name is None:
            continue
        if kind == 'map':
            entry = dict(_values(value))
            out.setdefault(name, {})[entry.get(1, b'').decode()] = entry.get(2, b'').decode()
            continue
        if kind == 's':
            value = value.decode()
        elif kind not in 'ib':
            value = decode(messages, kind, value)
        if repeated:
            out.setdefault(name, []).append(value)
        else:
            out[name] = value
    return out
