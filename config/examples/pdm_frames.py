"""Reference sender of pdm.frames/1 (docs/frames.md): one file, Python 3.8, no dependency.

    python3 pdm_frames.py                       # a simulated sensor that connects to 127.0.0.1:5001
    python3 pdm_frames.py --listen --port 5000  # the edge connects
    python3 pdm_frames.py --udp --port 5002

A device of your own: make a Sender with the rate that the driver returned and the calibration of
each channel, and call `send(frames)` with what the driver delivered, frame by frame. After an
overrun call `lost(count)` with the number of frames that are gone.
"""

import argparse
import math
import os
import random
import socket
import struct
import time
import zlib

UNITS = {"configured": 0, "g": 1, "m/s2": 2, "mV": 3}
ENCODINGS = {"i16": (1, "h"), "i32": (3, "i"), "f32": (4, "f")}


class Sender:
    """Makes blocks of frames; `transmit` sends the bytes of each."""

    def __init__(self, transmit, rate_hz, channels, unit="g", encoding="f32", calibration=None):
        """`calibration`: for each channel (scale, offset, sensitivity in mV per g)."""
        self.transmit = transmit
        self.rate_hz = rate_hz
        self.channels = channels
        self.unit = UNITS[unit]
        self.code, self.letter = ENCODINGS[encoding]
        calibration = calibration or [(1.0, 0.0, 0.0)] * channels
        self.calibration = b"".join(struct.pack("<3f", *channel) for channel in calibration)
        self.run = int.from_bytes(os.urandom(8), "little")
        self.frames = 0
        self.blocks = 0

    def block(self, frames, taken_at=None):
        """The bytes of a block. `taken_at`: time of the first frame, s since 1970, if known."""
        samples = [sample for frame in frames for sample in frame]
        body = self.calibration + struct.pack("<%d%s" % (len(samples), self.letter), *samples)
        flags = 0 if taken_at is None else 2
        head = b"PDMF" + struct.pack(
            "<4BHHIIIQQdqI",
            1, self.code, self.unit, flags,
            self.channels, 0, len(frames), self.blocks & 0xFFFFFFFF, 0,
            self.run, self.frames, self.rate_hz,
            0 if taken_at is None else int(taken_at * 1e6),
            zlib.crc32(body),
        )
        self.frames += len(frames)
        self.blocks += 1
        return head + struct.pack("<I", zlib.crc32(head)) + body

    def send(self, frames, taken_at=None):
        """Sends frames, each a sequence of one sample of every channel."""
        self.transmit(self.block(frames, taken_at))

    def lost(self, count):
        """Counts frames that the device took and could not deliver."""
        self.frames += count


def connection(arguments):
    """A function that sends bytes, made anew after a loss."""
    place = (arguments.host, arguments.port)
    if arguments.udp:
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return lambda data: peer.sendto(data, place)
    if arguments.listen:
        with socket.create_server(place) as server:
            peer, _ = server.accept()
    else:
        peer = socket.create_connection(place)
    return peer.sendall


def simulated(first, count, rate_hz, channels):
    """Shaft and noise, in g, where a driver would be read."""
    frames = []
    for n in range(first, first + count):
        shaft = math.sin(2 * math.pi * 24.67 * n / rate_hz)
        frames.append([0.1 * shaft + random.gauss(0, 0.05) for _ in range(channels)])
    return frames


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5001)
    parser.add_argument("--listen", action="store_true", help="wait for the edge to connect")
    parser.add_argument("--udp", action="store_true", help="send datagrams")
    parser.add_argument("--rate", type=float, default=25600.0)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--lose", type=float, default=0.0, help="share of blocks that are lost")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    random.seed(arguments.seed)

    # a datagram holds at most 64 KiB
    count = int(arguments.rate / (50 if arguments.udp else 10))
    sender = Sender(None, arguments.rate, arguments.channels)
    begun = time.monotonic()
    taken = 0
    while taken < arguments.seconds * arguments.rate:
        try:
            sender.transmit = connection(arguments)
            while taken < arguments.seconds * arguments.rate:
                frames = simulated(taken, count, arguments.rate, arguments.channels)
                taken += count
                ahead = taken / arguments.rate - (time.monotonic() - begun)
                time.sleep(max(0.0, ahead))
                if random.random() < arguments.lose:
                    sender.lost(count)
                else:
                    sender.send(frames, time.time() - count / arguments.rate)
        except OSError:
            # the edge is away: what is taken meanwhile is lost, and counted
            time.sleep(0.2)
            missed = int((time.monotonic() - begun) * arguments.rate) - taken
            if missed > 0:
                sender.lost(missed)
                taken += missed


if __name__ == "__main__":
    main()
