# SPDX-License-Identifier: Apache-2.0
"""Records of the two readers: reading them, comparing them, and changes that the comparison must notice.

Held to be the same in each topic: number and order of records, tombstones, and every byte of keys and values. Excepted,
and nothing else:
  source.version, and the payload's ts_ms (when the change was read)
  source.rs and its schema: only mongocdc has them, directly before collection
  doubles in before, after and updatedFields: the same number, since a JDK before 19 may print more digits than needed
  NaN and infinities in before and after: Debezium's bare words stand for {"$numberDouble": "NaN"}
"""
import collections
import json
import re


class Failure(Exception):
    pass


class Record(collections.namedtuple("Record", "topic key value")):
    """Topic, and the texts of key and value; value is None for a tombstone."""

    @staticmethod
    def of(line):
        decoder, parts, at = json.JSONDecoder(), [], 0
        for name in ("topic", "key", "value"):
            at += len('{"') + len(name) + len('":')
            _, end = decoder.raw_decode(line, at)
            parts.append(line[at:end])
            at = end
        topic, key, value = parts
        return Record(json.loads(topic), key, None if value == "null" else value)


class Fields(list):
    """A JSON object as (name, value) pairs: order and repetition count."""

    def get(self, name):
        return next((v for n, v in self if n == name), None)

    def put(self, name, value):
        self[:] = [(n, value if n == name else v) for n, v in self]

    def drop(self, name):
        self[:] = [(n, v) for n, v in self if n != name]


def parse(text):
    return json.loads(text, object_pairs_hook=Fields, parse_int=lambda s: ("integer", s),
                      parse_float=lambda s: ("double", s))


def embedded(payload):
    """(fields, name) of the places in a payload that hold JSON as text."""
    description = payload.get("updateDescription")
    return [(payload, "before"), (payload, "after")] + ([(description, "updatedFields")] if description else [])


def texts(value):
    return [fields.get(name) for fields, name in embedded(value.get("payload"))]


def refuse(word):
    raise Failure(f"{word} is no JSON")


TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|-?[0-9][0-9.eE+-]*|NaN|-?Infinity')


def canonical(text, bare_words):
    """JSON with its doubles as exact hexadecimal and, where they may be, bare words as documents; else as it was."""
    def token(match):
        word = match.group()
        if word.startswith('"'):
            return word
        if word.lstrip("-") in ("NaN", "Infinity"):
            return f'{{"$numberDouble": "{word}"}}' if bare_words else word
        return float(word).hex() if set(word) & set(".eE") else word
    return TOKEN.sub(token, text)


def normal(value, ours):
    """A parsed value without what may differ."""
    payload = value.get("payload")
    source = payload.get("source")
    source.put("version", "" if isinstance(source.get("version"), str) else None)
    if payload.get("ts_ms") is not None:
        payload.put("ts_ms", payload.get("ts_ms")[0])
    if ours:
        if source.get("rs") != "rs0":
            raise Failure(f"source.rs is {source.get('rs')!r}")
        source.drop("rs")
        for field in value.get("schema").get("fields"):
            if field.get("field") == "source":
                field.put("fields", [f for f in field.get("fields") if f.get("field") != "rs"])
    for fields, name in embedded(payload):
        text = fields.get(name)
        if text is not None:
            if ours:
                json.loads(text, parse_constant=refuse)
            fields.put(name, canonical(text, bare_words=not ours and name != "updatedFields"))
    return value


def masked(text, ours):
    """The bytes of a value without what may differ outside of before, after and updatedFields."""
    text = re.sub(r'"version":"[^"]*","connector":', '"version":"","connector":', text, count=1)
    text = re.sub(r'"ts_ms":[0-9]+,"transaction":', '"ts_ms":0,"transaction":', text, count=1)
    if ours:
        name = '{"type":"string","optional":false,"field":"%s"}'
        text = text.replace(name % "rs" + "," + name % "collection", name % "collection", 1)
        text = text.replace('"rs":"rs0","collection":', '"collection":', 1)
    return text


def first_difference(a, b, path="value"):
    if isinstance(a, Fields) and isinstance(b, Fields):
        names = [n for n, _ in a], [n for n, _ in b]
        if names[0] != names[1]:
            return f"{path}: fields {names[0]} and {names[1]}"
        pairs = [(f".{n}", v, w) for (n, v), (_, w) in zip(a, b)]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(f"[{i}]", v, w) for i, (v, w) in enumerate(zip(a, b))]
    elif isinstance(a, str) and isinstance(b, str):
        return "" if a == b else f"{path}: {around(a, b)}"
    else:
        return "" if a == b else f"{path}: {str(a)[:300]} and {str(b)[:300]}"
    return next((d for d in (first_difference(v, w, path + step) for step, v, w in pairs) if d), "")


def around(a, b):
    """The places where two texts begin to differ."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 30):at + 60]!r} and {b[max(0, at - 30):at + 60]!r}, at {at}"


def compare_values(theirs, ours):
    """Nothing when they agree."""
    t, o = parse(theirs), parse(ours)
    identical = texts(t) == texts(o)
    difference = first_difference(normal(t, False), normal(o, True))
    if not difference and identical and masked(theirs, False) != masked(ours, True):
        difference = "spelled differently: " + around(masked(theirs, False), masked(ours, True))
    return difference


def compare_topic(theirs, ours):
    """What is wrong, at most ten lines; nothing when the topics agree."""
    wrong = []
    for i, (t, o) in enumerate(zip(theirs, ours)):
        if t.key != o.key:
            wrong.append(f"record {i}: keys {t.key} and {o.key}")
        elif (t.value is None) != (o.value is None):
            wrong.append(f"record {i}, key {t.key}: only one is a tombstone")
        elif t.value is not None:
            difference = compare_values(t.value, o.value)
            if difference:
                wrong.append(f"record {i}, key {t.key}: {difference}")
    if len(theirs) != len(ours):
        wrong.append(f"{len(theirs)} and {len(ours)} records")
    return wrong[:10]


def by_topic(records):
    topics = collections.defaultdict(list)
    for record in records:
        topics[record.topic].append(record)
    return topics


def operations(records):
    return ["tombstone" if r.value is None else json.loads(r.value)["payload"]["op"] for r in records]


def count_identical(theirs, ours):
    """Of the values and of the texts in them, how many are the same bytes (but for version, ts_ms and rs), and how many
    there are: {what: [same, all]}."""
    counts = collections.defaultdict(lambda: [0, 0])

    def count(what, same):
        counts[what][0] += same
        counts[what][1] += 1

    for t, o in zip(theirs, ours):
        if t.value is None:
            continue
        count("values", masked(t.value, False) == masked(o.value, True))
        for (a, name), (b, _) in zip(embedded(parse(t.value).get("payload")), embedded(parse(o.value).get("payload"))):
            if a.get(name) is not None:
                count(name, a.get(name) == b.get(name))
    return counts


def replaced(pattern, by, op):
    """A change of the first record of this operation that has the pattern in its value."""
    def change(records):
        for i, r in enumerate(records):
            if r.value and f'"op":"{op}"' in r.value and re.search(pattern, r.value):
                return records[:i] + [r._replace(value=re.sub(pattern, by, r.value, count=1))] + records[i + 1:]
        raise Failure(f"no record to change with {pattern}")
    return change


def without(choose):
    def change(records):
        at = next(i for i, r in enumerate(records) if choose(r))
        return records[:at] + records[at + 1:]
    return change


MUTATIONS = {
    "a missing first record": lambda r: r[1:],
    "a missing last record": lambda r: r[:-1],
    "a missing update": without(lambda r: r.value and '"op":"u"' in r.value),
    "a missing tombstone": without(lambda r: r.value is None),
    "a repeated record": lambda r: r[:3] + r[2:],
    "two records in the wrong order": lambda r: r[:1] + [r[2], r[1]] + r[3:],
    "another key": lambda r: [r[0]._replace(key=r[0].key.replace('"id":"', '"id":" '))] + r[1:],
    "another schema of the key": lambda r: [r[0]._replace(key=r[0].key.replace("string", "int32", 1))] + r[1:],
    "another number in after": replaced(r'\\"n\\": 5', r'\\"n\\": 6', "c"),
    "another kind of number in after": replaced(r'\\"n\\": 5', r'\\"n\\": 5.0', "c"),
    "another string in after": replaced(r'text', "texT", "c"),
    "another order of fields in after": replaced(r'(\\"n\\": 5),(\\"f\\": 1.5)', r"\2,\1", "c"),
    "another blank in after": replaced(r'\\"n\\": 5', r'\\"n\\":  5', "c"),
    "another escape": replaced(r'"op":"c"', r'"op":"\\u0063"', "c"),
    "after that is null": replaced(r'"after":"(\\.|[^"\\])*"', '"after":null', "c"),
    "another updatedFields": replaced(r'("updatedFields":"{\\")', r"\1x", "u"),
    "another removedFields": replaced(r'"removedFields":\["', '"removedFields":["x', "u"),
    "another operation": replaced('"op":"u"', '"op":"c"', "u"),
    "another place in the log": replaced(r'"ord":', '"ord":1', "c"),
    "another time of the change": replaced(r'("source":{.*?"ts_ms":\d*)\d', r"\g<1>999", "c"),
    "another schema": replaced(r'"optional":false', '"optional":true', "c"),
    "a field too many": replaced(r'"op":"c"', '"op":"c","more":1', "c"),
}
