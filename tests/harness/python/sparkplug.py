"""A Sparkplug B node, for tests: its messages are made by Google's protobuf from Eclipse's definition.

  sparkplug.py cases          prints messages, one a line: case, topic, payload in hexadecimal
  sparkplug.py node PORT      a node at a broker; it sends data without births until it is asked for them
"""

import struct
import sys
import time

from pysparkplug._protobuf import Metric, Payload

GROUP = "spBv1.0/plant/{}/gw-7"
T0 = 1_767_225_600_000  # 2026-01-01, ms
INT8, INT16, INT32, INT64, FLOAT, DOUBLE = 1, 2, 3, 4, 9, 10
INT16_ARRAY, FLOAT_ARRAY, DOUBLE_ARRAY, STRING = 23, 30, 31, 12


def metric(name=None, alias=None, kind=None, value=None, at=T0, unit=None, quality=None, historical=False, null=False):
    made = Metric()
    if name is not None:
        made.name = name
    if alias is not None:
        made.alias = alias
    if kind is not None:
        made.datatype = kind
    if at is not None:
        made.timestamp = at
    if historical:
        made.is_historical = True
    if null:
        made.is_null = True
    if unit is not None:
        made.properties.keys.append("engUnit")
        made.properties.values.add(type=STRING, string_value=unit)
    if quality is not None:
        made.properties.keys.append("Quality")
        made.properties.values.add(type=INT32, int_value=quality)
    if isinstance(value, bytes):
        made.bytes_value = value
    elif isinstance(value, float):
        made.float_value = value
    elif isinstance(value, int):
        made.int_value = value & 0xFFFFFFFF
    return made


def payload(seq, *metrics, at=T0):
    made = Payload()
    if at is not None:
        made.timestamp = at
    if seq is not None:
        made.seq = seq
    made.metrics.extend(metrics)
    return made.SerializeToString()


def floats(*numbers, order="<"):
    return struct.pack(f"{order}{len(numbers)}f", *numbers)


def shorts(*numbers):
    return struct.pack(f"<{len(numbers)}h", *numbers)


def bd_seq(number):
    made = metric("bdSeq", kind=8)
    made.long_value = number
    return made


def nbirth(seq=0, session=3):
    return ("NBIRTH", payload(seq, bd_seq(session), metric("Node Control/Rebirth", kind=11)))


def dbirth(seq=1, x=1, y=2, kind=FLOAT_ARRAY, unit="g", **more):
    values = dict(value=floats(9.0, 9.0)) if kind == FLOAT_ARRAY else {}
    metrics = [
        metric("Temperature", alias=7, kind=FLOAT, value=21.5),
        metric("Vibration/X", alias=x, kind=kind, unit=unit, **{**values, **more}),
        metric("Vibration/Y", alias=y, kind=kind, unit=unit, **{**values, **more}),
    ]
    return ("DBIRTH/pump", payload(seq, *metrics))


def ddata(seq, *metrics, at=T0):
    return ("DDATA/pump", payload(seq, *metrics, at=at))


def xy(seq, n, at=T0, **more):
    return ddata(
        seq,
        metric(alias=1, value=floats(n, n + 1), at=at, **more),
        metric(alias=2, value=floats(-n, -n - 1), at=at, **more),
        at=at,
    )


def cases():
    births = [nbirth(), dbirth()]
    other = ("DDATA/other", payload(3, metric(alias=1, value=floats(99.0, 99.0))))
    yield "alias only", births + [xy(2, 1.0)]
    yield "name beside alias", births + [
        ddata(2, metric("Vibration/X", 1, value=floats(1, 2)), metric("Vibration/Y", 2, value=floats(-1, -2)))
    ]
    empty = births + [ddata(2, metric("", 1, value=floats(1, 2)), metric("", 2, value=floats(-1, -2)))]
    yield "empty name", empty
    yield "alias 0 for all", [nbirth(), dbirth(x=0, y=0)] + [
        ddata(2, metric("Vibration/X", 0, value=floats(1, 2)), metric("Vibration/Y", 0, value=floats(-1, -2)))
    ]
    yield "one alias for both", [nbirth(), dbirth(x=4, y=4), ddata(2, metric(alias=4, value=floats(1, 2)))]
    yield "data before birth", [xy(2, 1.0)]
    yield "device data before device birth", [nbirth(), xy(1, 1.0)]
    yield "birth of the node ends that of the device", births + [nbirth(session=4), xy(1, 1.0)]
    yield "birth is not measured", births
    yield "number of the birth is not 0", [nbirth(7), dbirth(8), xy(9, 1.0)]
    yield "no numbers", [nbirth(None), dbirth(None), xy(None, 1.0), xy(None, 3.0)]
    yield "numbers wrap", [nbirth(253), dbirth(254), xy(255, 1.0), xy(0, 3.0)]
    yield "numbers count every device", births + [xy(2, 1.0), other, xy(4, 3.0)]
    yield "numbers missing", births + [xy(2, 1.0), xy(6, 3.0)]
    yield "birth may be missing", births + [xy(2, 1.0), xy(1, 3.0)]
    yield "message twice", births + [xy(2, 1.0), xy(2, 1.0), xy(3, 3.0, at=T0 + 9)]
    yield "death of an earlier session", births + [("NDEATH", payload(None, bd_seq(2), at=None)), xy(2, 1.0)]
    yield "death with a number", births + [("NDEATH", payload(0, bd_seq(3)))]
    yield "death of the device", births + [("DDEATH/pump", payload(2))]
    yield "death of another device", births + [("DDEATH/other", payload(2)), xy(3, 1.0)]
    yield "null", births + [ddata(2, metric(alias=1, null=True), metric(alias=2, value=floats(1, 2)))]
    yield "no value", births + [ddata(2, metric(alias=1), metric(alias=2, value=floats(1, 2)))]
    yield "null in the birth", [nbirth(), dbirth(value=None, null=True), xy(2, 1.0)]
    yield "bad quality", births + [xy(2, 1.0, quality=0)]
    yield "stale", births + [xy(2, 1.0, quality=500)]
    yield "good quality", births + [xy(2, 1.0, quality=192)]
    big = [metric(alias=a, value=floats(*([0.5, -0.25, 0.125, 0.3] * 8), order=">")) for a in (1, 2)]
    yield "big-endian", births + [ddata(2, *big)]
    yield "velocity", [nbirth(), dbirth(unit="mm/s"), xy(2, 1.0)]
    yield "unknown unit", [nbirth(), dbirth(unit="furlong"), xy(2, 1.0)]
    yield "volts", [nbirth(), dbirth(unit="mV"), xy(2, 1.0)]
    yield "counts without a unit", [nbirth(), dbirth(kind=INT16_ARRAY, unit=None), xy(2, 1.0)]
    yield "floats without a unit", [nbirth(), dbirth(unit=None), xy(2, 1.0)]
    milli = [metric(alias=1, value=shorts(1000, -2000)), metric(alias=2, value=shorts(-12, 12))]
    yield "integers in mg", [nbirth(), dbirth(kind=INT16_ARRAY, unit="mg"), ddata(2, *milli)]
    yield "metres", [nbirth(), dbirth(unit="m/s²"), xy(2, 1.0)]
    yield "another type", births + [xy(2, 1.0, kind=DOUBLE_ARRAY)]
    yield "half a sample", births + [ddata(2, metric(alias=1, value=b"abcde"), metric(alias=2, value=floats(1)))]
    yield "a text", [nbirth(), dbirth(kind=STRING), xy(2, 1.0)]
    yield "no such metric", [nbirth(), ("DBIRTH/pump", payload(1, metric("Vib/x", 1, FLOAT_ARRAY)))]
    yield "two messages", births + [
        ddata(2, metric(alias=1, value=floats(1, 2), at=T0)),
        ddata(3, metric(alias=2, value=floats(-1, -2), at=T0 + 1)),
    ]
    yield "one axis missing", births + [
        ddata(2, metric(alias=1, value=floats(50, 51), at=T0)),
        ddata(3, metric(alias=2, value=floats(-1, -2), at=T0 + 1000)),
        ddata(4, metric(alias=1, value=floats(1, 2), at=T0 + 1000)),
    ]
    yield "kept values", births + [xy(2, 1.0, at=T0 + 60_000, historical=True), xy(3, 3.0, at=T0, historical=True)]
    compressed = Payload(uuid="SPBV1.0_COMPRESSED", body=b"\x1f\x8b", seq=2)
    yield "compressed", births + [("DDATA/pump", compressed.SerializeToString())]
    single = dict(kind=INT32, unit="mg", value=None)
    one = lambda at, x, y: [metric(alias=1, value=x, at=at), metric(alias=2, value=y, at=at)]
    yield "single values", [nbirth(), dbirth(**single), ddata(2, *one(T0, -12, 12), *one(T0 + 1, -13, 13))]
    yield "by exception", [nbirth(), dbirth(**single), ddata(2, metric(alias=1, value=1)), ddata(3, *one(T0, 1, 1))]
    yield "value missing in time", [nbirth(), dbirth(**single)] + [
        ddata(2 + n, *one(T0 + at, n, n), at=T0 + at) for n, at in enumerate([0, 1, 40, 41])
    ]
    yield "not protobuf", births + [("DDATA/pump", b'{"metrics": []}')]
    yield "empty", births + [("DDATA/pump", b"")]


def node(port):
    from paho.mqtt import client as paho

    class Node:
        born, seq, deaths, n, session = False, 0, 0, 0, 0

    mqtt = paho.Client(client_id="gw-7")

    def on_connect(client, *_):
        Node.born = False
        client.subscribe(GROUP.format("NCMD"))

    def on_message(client, _, message):
        asked = Payload.FromString(message.payload)
        named = [m.name for m in asked.metrics if m.boolean_value]
        if named == ["Node Control/Rebirth"]:
            Node.births_due = True

    Node.births_due = False
    mqtt.on_connect, mqtt.on_message = on_connect, on_message
    mqtt.connect("127.0.0.1", port)
    mqtt.reconnect_delay_set(0.05, 0.2)
    mqtt.loop_start()

    def send(kind, body):
        name, _, device = kind.partition("/")
        mqtt.publish(GROUP.format(name) + (f"/{device}" if device else ""), body)
        Node.seq = (Node.seq + 1) % 256

    while True:
        if Node.births_due:
            Node.births_due, Node.born, Node.seq = False, True, 0
            Node.session += 1
            send(*nbirth(0, Node.session))
            # another birth, other aliases
            x, y = (1, 2) if Node.session % 2 else (2, 1)
            rate = metric("Rate", alias=9, kind=DOUBLE)
            rate.double_value = 1001.0
            send(
                "DBIRTH/pump",
                payload(
                    Node.seq,
                    metric("Vibration/X", x, INT16_ARRAY, unit="mg", value=shorts(7, 7)),
                    metric("Vibration/Y", y, FLOAT_ARRAY, unit="m/s2", value=floats(7, 7)),
                    rate,
                ),
            )
            # the will of the session before comes late
            mqtt.publish(GROUP.format("NDEATH"), payload(None, bd_seq(Node.session - 1), at=None))
            Node.aliases = x, y
        n = Node.n = Node.n + 1
        x, y = getattr(Node, "aliases", (1, 2))
        if Node.born:
            send("DDATA/other", payload(Node.seq, metric(alias=1, value=floats(99.0))))
            if n % 7 == 0:
                Node.seq = (Node.seq + 3) % 256
        is_null = n % 5 == 0
        first = metric(alias=x, value=None if is_null else shorts(n, n + 1, n + 2, n + 3), null=is_null)
        second = metric(alias=y, value=floats(-n, -n - 1, -n - 2, -n - 3))
        first.timestamp = second.timestamp = int(time.time() * 1000)
        send("DDATA/pump", payload(Node.seq, first, second))
        if Node.born and n % 40 == 0:
            send("DDEATH/pump", payload(Node.seq))
            Node.born = False
        time.sleep(0.03)


if __name__ == "__main__":
    if sys.argv[1] == "cases":
        for case, messages in cases():
            for kind, body in messages:
                name, _, device = kind.partition("/")
                print(case, GROUP.format(name) + (f"/{device}" if device else ""), body.hex(), sep="\t")
    else:
        node(int(sys.argv[2]))
