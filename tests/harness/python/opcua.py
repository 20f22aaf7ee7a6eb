"""An OPC UA server, for tests: asyncua with the nodes of a vibration sensor.

  opcua.py certificates FOLDER   makes server.der, server.pem, client.der, client.pem, other.der, user.der, user.pem,
                                 stranger.der, stranger.pem, and expired.der, whose time is over
  opcua.py serve PORT [MODE…]    MODE: `shifted` gives the nodes another namespace index, `elsewhere` announces a host
                                 that does not exist, `secure FOLDER` takes only signed and encrypted sessions, `user`
                                 only user and password (pdm, secret), `certificate FOLDER` only the certificate user.der

Namespace http://pdm.example/vibration. Arrays X and Y (256 doubles, a sine and its double, m/s²) are written five
times a second with one source time; those of `Wrong…` hold what no sensor should send.
"""

import asyncio
import datetime
import math
import sys
from pathlib import Path

from asyncua import Server, ua
from asyncua.server.user_managers import UserManager
from asyncua.crypto.permission_rules import User, UserRole

NAMESPACE = "http://pdm.example/vibration"
CEFACT = "http://www.opcfoundation.org/UA/units/un/cefact"


async def certificates(folder):
    from asyncua.crypto.cert_gen import setup_self_signed_certificate
    from cryptography.x509.oid import ExtendedKeyUsageOID as Use

    for name, uri in [
        ("server", "urn:pdm.example:server"),
        ("client", "urn:pdm-edge:gw-01"),
        ("other", "urn:other"),
        ("user", "urn:user"),
        ("stranger", "urn:stranger"),
    ]:
        use = [Use.SERVER_AUTH if name in ("server", "other") else Use.CLIENT_AUTH]
        place = Path(folder) / name
        await setup_self_signed_certificate(
            place.with_suffix(".pem"), place.with_suffix(".der"), uri, "elsewhere.example", use, {"countryName": "KR"}
        )


def expired(folder):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "expired")])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2021, 1, 1))
    der = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
    (Path(folder) / "expired.der").write_bytes(der)


class Users(UserManager):
    def __init__(self, certificate=None):
        self.certificate = certificate

    def get_user(self, iserver, username=None, password=None, certificate=None):
        if self.certificate is not None:
            return User(role=UserRole.User, name="certificate") if certificate == self.certificate else None
        is_known = username == "pdm" and password == "secret"
        return User(role=UserRole.User, name=username) if is_known else None


async def variable(parent, index, name, value, unit=None, code=-1):
    node = await parent.add_variable(ua.NodeId(name, index), ua.QualifiedName(name, index), value)
    if unit is not None:
        text = ua.LocalizedText(unit)
        stated = ua.EUInformation(NamespaceUri=CEFACT, UnitId=code, DisplayName=text, Description=text)
        await node.add_property(0, "EngineeringUnits", stated)
    return node


async def serve(port, modes):
    manager = Users() if "user" in modes else None
    if "certificate" in modes:
        folder = Path(modes[modes.index("certificate") + 1])
        manager = Users((folder / "user.der").read_bytes())
    server = Server(user_manager=manager)
    await server.init()
    host = "elsewhere.example" if "elsewhere" in modes else "127.0.0.1"
    server.set_endpoint(f"opc.tcp://{host}:{port}/pdm")
    if "elsewhere" in modes:
        server.socket_address = ("127.0.0.1", port)
        server.set_match_discovery_endpoint_url(False)
        server.set_match_discovery_client_ip(False)
    await server.set_application_uri("urn:pdm.example:server")
    if "secure" in modes:
        folder = Path(modes[modes.index("secure") + 1])
        await server.load_certificate(str(folder / "server.der"))
        await server.load_private_key(str(folder / "server.pem"))
        server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
    else:
        server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    if "user" in modes:
        server.set_identity_tokens([ua.UserNameIdentityToken])
    if "certificate" in modes:
        server.set_identity_tokens([ua.X509IdentityToken])
    if "shifted" in modes:
        await server.register_namespace("http://pdm.example/new")
    index = await server.register_namespace(NAMESPACE)
    sensor = await server.nodes.objects.add_object(index, "Sensor")

    # values of a transmitter
    velocity = await variable(sensor, index, "Velocity", 2.31, "mm/s", 4403510)
    rms = await variable(sensor, index, "Rms", ua.Variant(4.903325, ua.VariantType.Float), "m/s²", 5067595)
    await variable(sensor, index, "Temperature", 149.0, "Grad F", 4604232)
    await variable(sensor, index, "Speed", 24.8, "Hz", 4740186)
    await variable(sensor, index, "NoUnit", 0.5)
    await variable(sensor, index, "Text", "2.31", "mm/s")
    await variable(sensor, index, "Hot", 850.0, "°C", 4408652)
    await variable(sensor, index, "Nan", float("nan"), "mm/s")
    bad = await variable(sensor, index, "Bad", 2.31, "mm/s")
    uncertain = await variable(sensor, index, "Uncertain", 2.31, "mm/s")
    # arrays
    zeros = [0.0] * 256
    x = await variable(sensor, index, "X", zeros, "m/s²", 5067595)
    y = await variable(sensor, index, "Y", ua.Variant(zeros, ua.VariantType.Float), "g")
    plain = await variable(sensor, index, "Plain", zeros)
    speed = await variable(sensor, index, "Rate", 1000.0, "Hz")
    counts = await variable(sensor, index, "WrongCounts", ua.Variant([1, 2], ua.VariantType.Int16))
    wrong = {
        "WrongUnit": (zeros, "mm/s"),
        "WrongEmpty": (zeros, "g"),
        "WrongTable": (zeros, "g"),
        "WrongText": (["0"], "g"),
        "WrongScalar": (zeros, "g"),
        "WrongStatus": (zeros, "g"),
        "WrongDoubt": (zeros, "g"),
    }
    nodes = {name: await variable(sensor, index, name, value, unit) for name, (value, unit) in wrong.items()}
    double, text = ua.VariantType.Double, ua.VariantType.String
    contents = {
        "WrongUnit": ua.Variant(zeros, double),
        "WrongEmpty": ua.Variant([], double, is_array=True),
        "WrongTable": ua.Variant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], double),
        "WrongText": ua.Variant(["1.0", "2.0"], text),
        "WrongScalar": ua.Variant(1.0, double),
        "WrongStatus": ua.Variant(zeros, double),
        "WrongDoubt": ua.Variant(zeros, double),
    }
    statuses = {"WrongStatus": ua.StatusCodes.BadSensorFailure, "WrongDoubt": ua.StatusCodes.UncertainLastUsableValue}

    async def write(node, value, at, status=0):
        stated = ua.DataValue(Value=value, StatusCode=ua.StatusCode(status), SourceTimestamp=at, ServerTimestamp=at)
        await server.write_attribute_value(node.nodeid, stated)

    async with server:
        print("ready", flush=True)
        number = 0
        while True:
            at = datetime.datetime.now(datetime.timezone.utc)
            number += 1
            samples = [math.sin(0.3 * n) + number for n in range(256)]
            # InfoType DataValue with Overflow: the server had to throw older values away
            overflow = 0x480 if number % 10 == 0 else 0
            await write(x, ua.Variant(samples, double), at, overflow)
            await write(y, ua.Variant([2 * s for s in samples], ua.VariantType.Float), at)
            nans = [float("nan") if n == 7 else s for n, s in enumerate(samples)]
            await write(plain, ua.Variant(nans, double), at)
            await write(speed, ua.Variant(1000.0, double), at)
            # a transmitter that measures again states a new time, also where the figure is the same
            await write(velocity, ua.Variant(2.31, double), at)
            await write(rms, ua.Variant(4.903325, ua.VariantType.Float), at)
            await write(counts, ua.Variant([number, 2, 3], ua.VariantType.Int16), at)
            await write(bad, ua.Variant(2.31, double), at, ua.StatusCodes.BadSensorFailure)
            await write(uncertain, ua.Variant(2.31, double), at, ua.StatusCodes.UncertainLastUsableValue)
            for name, node in nodes.items():
                await write(node, contents[name], at, statuses.get(name, 0))
            await asyncio.sleep(0.2)


if sys.argv[1] == "certificates":
    asyncio.run(certificates(sys.argv[2]))
    expired(sys.argv[2])
else:
    asyncio.run(serve(int(sys.argv[2]), sys.argv[3:]))
