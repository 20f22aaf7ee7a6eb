"""Waveforms that the real gateway captures, as SciPy, soundfile and this package read them."""

import json
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
import warnings

import numpy as np
import pytest

import pdm_bearings as pb
from conftest import ROOT

#: How long the gateway may take until it has captured what it was asked for, s.
PATIENCE_S = 60.0


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def configuration(folder, admin):
    """The shipped configuration with captures, far ahead of the clock, without a broker."""
    text = (ROOT / "config" / "edge.toml").read_text(encoding="utf-8")
    for shipped, ours in [
        ("127.0.0.1:1883", f"127.0.0.1:{free_port()}"),
        ("127.0.0.1:9101", f"127.0.0.1:{admin}"),
        ("../var/edge/spool.db", "spool.db"),
        ("pace = 60.0", "pace = 600.0"),
        ("snapshots = 300", "snapshots = 100000"),
    ]:
        assert shipped in text, shipped
        text = text.replace(shipped, ours)
    text += '\n[capture]\nbudget_mb = 4.0\nfolder = "captures"\nbefore_s = 3.0\nafter_s = 0.2\n'
    path = folder / "edge.toml"
    path.write_text(text, encoding="utf-8")
    return path


def demand(admin):
    """Asks for a capture; whether it is taken."""
    request = urllib.request.Request(f"http://127.0.0.1:{admin}/capture/P-101/DE", method="POST", data=b"")
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status == 202
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def captured(pdm_edge, tmp_path_factory):
    """A WAV file of the gateway, and its document."""
    folder = tmp_path_factory.mktemp("gateway")
    admin = free_port()
    config = configuration(folder, admin)
    with open(folder / "log", "w", encoding="utf-8") as log:
        gateway = subprocess.Popen([pdm_edge, "run", "--config", str(config)], stdout=log, stderr=log)
        try:
            until = time.monotonic() + PATIENCE_S
            while not demand(admin) and time.monotonic() < until:
                assert gateway.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
            documents = []
            while not documents and time.monotonic() < until:
                documents = sorted((folder / "captures").glob("*.json"))
                time.sleep(0.1)
        finally:
            gateway.terminate()
            gateway.wait(30)
    assert documents, (folder / "log").read_text()
    return documents[0].with_suffix(".wav"), json.loads(documents[0].read_text(encoding="utf-8"))


def test_scipy_reads_samples_and_rate(captured):
    from scipy.io import wavfile

    path, document = captured
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rate, samples = wavfile.read(path)
    assert rate == round(document["sampling_rate_hz"])
    assert samples.dtype == np.float32 and samples.shape == (document["samples"],)
    rec = pb.read(path)
    np.testing.assert_array_equal(rec.channel(0, "m/s2"), samples.astype(float))
    assert (
        rec.rate_hz == document["sampling_rate_hz"]
        and rec.capture.rpm == document["speed"]["shaft_speed_rpm"]
    )


def test_soundfile_reads_samples_rate_and_metadata(captured):
    soundfile = pytest.importorskip("soundfile")
    path, document = captured
    with soundfile.SoundFile(path) as file:
        assert (file.subtype, file.channels) == ("FLOAT", 1)
        assert file.samplerate == round(document["sampling_rate_hz"])
        samples, told = file.read(dtype="float32"), file.copy_metadata()
    np.testing.assert_array_equal(samples, pb.read(path).channel(0, "m/s2").astype("float32"))
    assert told["title"].startswith(document["equipment_id"]) and told["date"] == document["started_at"]
    assert "unit m/s2" in told["comment"] and document["capture_id"] in told["comment"]


def test_the_file_keeps_the_rules_that_matlab_reads_by(captured):
    """`audioread` wants RIFF/WAVE, `fmt ` before `data`, even chunks, sizes that end where the file ends."""
    path, document = captured
    content = path.read_bytes()
    assert content[:4] == b"RIFF" and content[8:12] == b"WAVE"
    assert struct.unpack("<I", content[4:8])[0] == len(content) - 8
    at, chunks = 12, []
    while at < len(content):
        name, size = content[at : at + 4], struct.unpack("<I", content[at + 4 : at + 8])[0]
        chunks.append((name, at + 8, size))
        at += 8 + size + size % 2
    assert at == len(content)
    names = [name for name, _, _ in chunks]
    assert names.index(b"fmt ") < names.index(b"data") and names.count(b"data") == 1
    (start, size) = next((start, size) for name, start, size in chunks if name == b"fmt ")
    kind, channels, rate, a_second, block, bits = struct.unpack("<HHIIHH", content[start : start + 16])
    assert (kind, channels, block, bits, a_second) == (3, 1, 4, 32, 4 * rate)
    # a form other than PCM has the length of its extension, and a chunk with the number of samples
    assert size == 18 and content[start + 16 : start + 18] == b"\0\0"
    (start, _) = next((start, size) for name, start, size in chunks if name == b"fact")
    assert struct.unpack("<I", content[start : start + 4])[0] == document["samples"]
