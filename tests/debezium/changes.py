# SPDX-License-Identifier: Apache-2.0
"""The changes that both readers read: values of every kind, every update operator, every kind of _id."""
import collections
import random
import signal
import struct

import bson
import pymongo
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS
from bson.raw_bson import RawBSONDocument

from comparison import Failure

DATABASE = "second_reader"
MARKERS = "markers"
ODD_NAMES = ["Upper", "with-dash", "with.dot", "with space", "größe"]
COLLECTIONS = ["updates", "kinds", "every", "ids", "strings", "numbers", "dates", "bulk", *ODD_NAMES, MARKERS]


def raw_document(id_, *elements):
    """A document of (type, name, bytes), for types that pymongo does not write."""
    body = bson.encode({"_id": id_})[4:-1] + b"".join(
        bytes([kind]) + name.encode() + b"\0" + data for kind, name, data in elements)
    return RawBSONDocument(struct.pack("<i", len(body) + 5) + body + b"\0")


def raw_string(data):
    return struct.pack("<i", len(data) + 1) + data + b"\0"


def date(ms):
    return DatetimeMS(ms)


OID = ObjectId("596e275826f08b2730779e1f")
IDS = [1234, -1, 12.34, 10.0, 1e21, "1234", "", 'quote"\\/\n\u00e9', "\U0001f600\u2028\x7f",
       {"hi": "kafka", "nums": [10.0, 100.0]}, {}, OID, b"kafka", Binary(bytes(range(16)), 3),
       Binary(bytes(range(16)), 4), Binary(b"\0\xff", 128), Int64(1004), Int64(9007199254740993), float("nan"),
       float("inf"), float("-inf"), Decimal128("1.10"), Decimal128("2E-3"), True, False, None, date(1582977600001),
       date(-1), date(253402300800000), Timestamp(1, 2), MinKey(), MaxKey(), Code("x"), Code("x", {"y": Int64(1)}),
       DBRef("other", OID, "odb")]

EVERY = {
    "double": 12.5, "whole": 10.0, "nan": float("nan"), "inf": float("inf"), "ninf": float("-inf"), "nzero": -0.0,
    "string": 'h\u00e9llo "q" \\ / \u2028 \x00 \x1f \x7f \U0001f600', "empty": "", "doc": {"a": {"b": {"c": 1}}},
    "emptydoc": {}, "array": [1, "two", 3.0, None, {"x": 1}, [1, [2]], []], "emptyarray": [], "bin0": b"kafka",
    "bin1": Binary(b"f", 1), "bin2": Binary(b"old", 2), "bin3": Binary(bytes(range(16)), 3),
    "uuid": Binary(bytes(range(16)), 4), "bin5": Binary(bytes(16), 5), "bin80": Binary(b"\0\xff", 128),
    "bin_empty": b"", "oid": OID, "true": True, "false": False, "date": date(1514862245678), "epoch": date(0),
    "null": None, "regex": Regex('a/b"c', "imx"), "regex_plain": Regex("^x"), "dbref": DBRef("other", OID, "odb"),
    "ref": DBRef("o", 1), "code": Code("function(){}"), "code_scope": Code("x", {"x": 1}), "int32": 42,
    "int32_min": -2**31, "ts": Timestamp(1420148645, 7), "ts_max": Timestamp(2**32 - 1, 2**32 - 1),
    "int64": Int64(42), "int64_max": Int64(2**63 - 1), "int64_min": Int64(-2**63), "decimal": Decimal128("1.10"),
    "decimal_nan": Decimal128("NaN"), "decimal_inf": Decimal128("-Infinity"), "min": MinKey(), "max": MaxKey(),
    "": "no name", "n\u00e4me \"quoted\"\n": 1,
}
OLD_TYPES = [(0x06, "undefined", b""), (0x0E, "symbol", raw_string(b"sym\xc3\xa9")),
             (0x0C, "pointer", raw_string(b"db.coll") + OID.binary)]
# Not UTF-8: stray and missing continuation bytes, overlong forms, beyond the last character, cut at the end. Encoded
# surrogates are not among them: Java makes one U+FFFD of each, mongocdc three, as the Unicode Standard recommends.
BROKEN = [b"a\x80b", b"\xffa", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x82(", b"\xe2(\xa1", b"\xf0\x9f\x98",
          b"\xf0\x9f(x", b"\xf0(x", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80",
          b"\xf8\x88\x80\x80\x80", b"ok\xe2\x82\xac\xe2\x82ok"]

STRINGS = ["plain", "".join(map(chr, range(0x80))), "".join(map(chr, range(0x80, 0x180))),
           "\u2027\u2028\u2029\u202a\ufeff\ufffd\uffff", "\ud7ff\ue000",
           "\U00010000\U0001f468\u200d\U0001f469\u200d\U0001f467\U0010ffff", "</script>&<>'", "日本語 עברית العربية",
           "\\u0041 \\n \\\\", "x" * 300_000, "ё" * 5000]

DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.1, 0.3, 100.0, 123456789.0, 1e6, 9999999.0, 1e7, 12345678.9, 0.001, 0.00099, 1e-5,
           1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 2.2250738585072014e-308, 5e-324, 1.7976931348623157e308, 2.0**53,
           2.0**63, 2e-3, 9.5e-4, 4.35, 1 / 3, 2 / 3, 3.0e-44, float("nan"), float("inf"), float("-inf")]
DECIMALS = ["0", "-0", "0E+3", "0E-10", "1", "-1", "1.0", "1.10", "0.1", "0.000001", "1E-6", "1E-7", "0.0000001",
            "12345678901234567890123456789012.34", "9.999999999999999999999999999999999E+6144", "1E-6176", "1E+3",
            "1.0E+3", "NaN", "Infinity", "-Infinity", "123.45E+2"]
DATES = [0, 1, -1, 999, -999, 1000, 1514862245678, 1582934400000, 1582977600001, 253402300799999, 253402300800000,
         -62135596800000, -62135596800001, -62167219200000, -62167219200001, 2**31 * 1000, 4102444800000,
         8640000000000000, 2**63 - 1, -2**63]

# Each is applied to a document of its own, BASE.
BASE = {"n": 5, "f": 1.5, "l": Int64(7), "s": "text", "d": {"x": 1, "y": {"z": 2}}, "a": [3, 1, 2, 3],
        "o": [{"k": 2, "v": "b"}, {"k": 1, "v": "a"}], "t": date(5), "dec": Decimal128("1.50")}
MODIFIERS = {
    "set": {"$set": {"s": "new", "fresh": 1}}, "set_nested": {"$set": {"d.y.z": Int64(3), "d.new.deep": [1]}},
    "set_element": {"$set": {"a.1": 99, "o.0.v": "é"}}, "set_beyond": {"$set": {"a.6": "far"}},
    "set_document": {"$set": {"d": {"all": "new"}}}, "set_array": {"$set": {"a": []}},
    "set_every": {"$set": {k: v for k, v in EVERY.items() if k}}, "set_kind": {"$set": {"n": 5.0}},
    "set_date": {"$set": {"t": date(253402300800000), "when": date(-1)}}, "unset": {"$unset": {"s": ""}},
    "unset_nested": {"$unset": {"d.y.z": 1, "d.x": 1}}, "unset_element": {"$unset": {"a.1": ""}},
    "set_unset": {"$set": {"s": 1}, "$unset": {"n": "", "f": ""}},
    "inc": {"$inc": {"n": 1, "l": -3, "f": 0.25, "made": 4}}, "inc_over": {"$inc": {"n": 2**31 - 1}},
    "mul": {"$mul": {"n": 3, "f": 2.0, "none": 5}}, "min": {"$min": {"n": 2, "f": 9.0, "made": 1}},
    "max": {"$max": {"n": 50, "f": 0.5, "t": date(6)}}, "rename": {"$rename": {"s": "renamed"}},
    "rename_nested": {"$rename": {"d.x": "d.w"}}, "push": {"$push": {"a": 7}},
    "push_new": {"$push": {"made": {"k": 1}}}, "push_each": {"$push": {"a": {"$each": [8, 9]}}},
    "push_position": {"$push": {"a": {"$each": [8, 9], "$position": 1}}},
    "push_slice": {"$push": {"a": {"$each": [8], "$slice": -2}}},
    "push_sort": {"$push": {"a": {"$each": [0], "$sort": 1}}},
    "push_sort_by": {"$push": {"o": {"$each": [{"k": 0, "v": "c"}], "$sort": {"k": -1}}}},
    "add_to_set": {"$addToSet": {"a": 42}}, "add_to_set_each": {"$addToSet": {"a": {"$each": [1, 5, 5, 6]}}},
    "pull": {"$pull": {"a": 3}}, "pull_matching": {"$pull": {"o": {"k": {"$gte": 2}}}},
    "pop_last": {"$pop": {"a": 1}}, "pop_first": {"$pop": {"a": -1}},
    "many": {"$set": {"d.y.z": 9}, "$inc": {"n": 1}, "$push": {"o": {"k": 9}}, "$unset": {"t": ""},
             "$rename": {"s": "s2"}},
}


class Writer:
    """Writes changes and notes the operations that must arrive, by collection; a tombstone behind every delete."""

    def __init__(self, uri, barrier):
        self.client = pymongo.MongoClient(uri)
        self.db, self.barrier = self.client[DATABASE], barrier
        self.expected = collections.defaultdict(list)

    def note(self, collection, op, times=1):
        self.expected[collection] += ([op, "tombstone"] if op == "d" else [op]) * times

    def insert(self, collection, document):
        self.db[collection].insert_one(document)
        self.note(collection, "c")

    def update(self, collection, id_, change, **more):
        result = self.db[collection].update_one({"_id": id_}, change, **more)
        if result.upserted_id is None and result.modified_count != 1:
            raise Failure(f"{collection} {id_!r}: {change!r} changed nothing")
        self.note(collection, "u" if result.upserted_id is None else "c")

    def replace(self, collection, id_, document, **more):
        result = self.db[collection].replace_one({"_id": id_}, document, **more)
        self.note(collection, "u" if result.matched_count else "c")

    def delete(self, collection, id_):
        if self.db[collection].delete_one({"_id": id_}).deleted_count != 1:
            raise Failure(f"{collection} {id_!r}: not deleted")
        self.note(collection, "d")


def write_changes(w, readers):
    """Between two barriers no document changes twice: a lookup is done when an event is read, so a second change could
    show in the first one's event."""
    kinds = ["upsert", "upsert_replace", "find_and_modify", "replaced", "gone", "many_1", "many_2"]
    for name in MODIFIERS:
        w.insert("updates", {"_id": name, **BASE})
    for kind in kinds[2:]:
        w.insert("kinds", {"_id": kind, "v": 1, "group": kind[:4]})
    w.insert("every", {"_id": 1, **EVERY})
    w.insert("every", raw_document(2, *OLD_TYPES))
    w.insert("strings", raw_document("broken", *((0x02, f"s{i}", raw_string(b)) for i, b in enumerate(BROKEN))))
    nested = {"end": True}
    for i in range(60):
        nested = {"d": nested} if i % 2 else {"a": [nested]}
    w.insert("every", {"_id": 3, **nested})
    w.insert("every", {"_id": 4, **{f"field_{i}": i for i in range(2000)}})
    for id_ in IDS:
        w.insert("ids", {"_id": id_, "v": 0})
    for i, text in enumerate(STRINGS):
        w.insert("strings", {"_id": i, "s": text, **({text: 1} if 0 < len(text) < 1000 and "\0" not in text else {})})
        if len(text) < 1000:
            w.insert("strings", {"_id": text})
    generator = random.Random(20)
    for i in range(0, 400):
        # Any bits of a double, but the many bit patterns of NaN, which are one value.
        bits = [struct.unpack("<d", generator.randbytes(8))[0] for _ in range(4)]
        near = [round(generator.uniform(-1000, 1000), generator.randrange(0, 8)), generator.randrange(10**6) / 100]
        digits = str(generator.randrange(10**generator.randrange(1, 34)))
        w.insert("numbers", {"_id": i, "bits": [b for b in bits if b == b], "near": near,
                             "decimal": Decimal128(f"{digits}E{generator.randrange(-60, 60)}"),
                             "int64": Int64(generator.getrandbits(64) - 2**63), "int32": generator.getrandbits(31)})
    w.insert("numbers", {"_id": "doubles", "d": DOUBLES, "minus": [-d for d in DOUBLES]})
    w.insert("numbers", {"_id": "decimals", "d": [Decimal128(d) for d in DECIMALS]})
    for i, ms in enumerate(DATES):
        w.insert("dates", {"_id": i, "d": date(ms), "id": {"d": [date(ms)]}})
        w.insert("dates", {"_id": date(ms)})
    w.db["bulk"].insert_many([{"_id": i, "pad": "p" * (i % 50)} for i in range(5000)])
    w.note("bulk", "c", 5000)
    for collection in ODD_NAMES:
        w.insert(collection, {"_id": 1})
    w.db["not_included"].insert_one({"_id": 1})
    w.client["other_database"]["updates"].insert_one({"_id": 1})
    w.barrier()

    for name, change in MODIFIERS.items():
        w.update("updates", name, change)
    w.update("kinds", "upsert", {"$set": {"a.b": 1}, "$setOnInsert": {"made": True}}, upsert=True)
    w.replace("kinds", "upsert_replace", {"v": [1]}, upsert=True)
    w.db["kinds"].find_one_and_update({"_id": "find_and_modify"}, {"$inc": {"v": 1}})
    w.note("kinds", "u")
    w.replace("kinds", "replaced", {"totally": {"new": Int64(1)}, "v": 1.0})
    w.db["kinds"].update_many({"group": "many"}, {"$set": {"v": 2}})
    w.note("kinds", "u", 2)
    w.update("every", 1, {"$set": {f"again.{k}": v for k, v in EVERY.items() if k}})
    for id_ in IDS:
        w.update("ids", id_, {"$set": {"v": 1}})
    for i, text in enumerate(STRINGS):
        w.update("strings", i, {"$set": {"s": text + "!", "d": {"s": [text]}}})
    w.update("numbers", "doubles", {"$set": {"e": DOUBLES}})
    for i, ms in enumerate(DATES):
        w.update("dates", i, {"$set": {"e": date(ms)}})
    w.db["bulk"].bulk_write(
        [pymongo.UpdateOne({"_id": i}, {"$set": {"v": i}, "$unset": {"pad": 1}}) for i in range(500)] +
        [pymongo.ReplaceOne({"_id": 1000}, {"r": 1}), pymongo.DeleteOne({"_id": 1001}),
         pymongo.InsertOne({"_id": 9001})])
    w.note("bulk", "u", 501)
    w.note("bulk", "d")
    w.note("bulk", "c")
    # What changes nothing makes no event.
    w.db["updates"].update_one({"_id": "nobody"}, {"$set": {"x": 1}})
    w.db["bulk"].update_one({"_id": 2000}, {"$set": {"_id": 2000}})
    w.db["bulk"].delete_one({"_id": "nobody"})
    try:
        w.db["bulk"].insert_many([{"_id": 9002}, {"_id": 2001}, {"_id": 9003}], ordered=False)
    except pymongo.errors.BulkWriteError:
        pass
    w.note("bulk", "c", 2)
    w.barrier()

    # The second change of a document: the first one's result is the base.
    for name in MODIFIERS:
        w.replace("updates", name, {"replaced": name, "n": -1})
    w.update("kinds", "upsert", {"$setOnInsert": {"made": 2}, "$set": {"a.b": 2}}, upsert=True)
    w.db["kinds"].find_one_and_replace({"_id": "find_and_modify"}, {"v": "replaced"})
    w.note("kinds", "u")
    for id_ in IDS:
        w.replace("ids", id_, {"v": 2})
    w.barrier()

    # A document that is gone when its update is read. The reads that wait at the server are answered with the first
    # changes, and stopped readers send no others.
    readers(signal.SIGSTOP)
    for i in range(3):
        w.insert("kinds", {"_id": f"answer_{i}"})
    w.update("kinds", "gone", {"$set": {"v": 2}})
    w.delete("kinds", "gone")
    readers(signal.SIGCONT)
    w.barrier()

    w.db["kinds"].find_one_and_delete({"_id": "find_and_modify"})
    w.note("kinds", "d")
    deleted = w.db["kinds"].delete_many({}).deleted_count
    w.note("kinds", "d", deleted)
    for name in MODIFIERS:
        w.delete("updates", name)
    for collection in ODD_NAMES:
        w.delete(collection, 1)
    for id_ in IDS:
        w.delete("ids", id_)
    w.db["bulk"].delete_many({"_id": {"$gte": 4000}})
    w.note("bulk", "d", 1003)
    w.barrier()
