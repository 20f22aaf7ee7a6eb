"""A Modbus TCP device, for tests: pymodbus' server with the registers of a vibration transmitter.

  modbus.py PORT [MODE]

Input registers of unit 7: 0 velocity, u16, 0.01 mm/s; 2–3 acceleration RMS, float, low word first, m/s²; 4
temperature, i16, 0.1 °C; 5 that of a broken sensor; 6 speed, i16, 0.1 Hz; 10 a value that is missing (0xffff). MODE: `transaction` answers with another number, `slow` never answers within a second,
`late` answers the third request late, `unit` answers as another unit.
"""

import asyncio
import struct
import sys

from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
from pymodbus.server import ModbusTcpServer


async def main(port, mode):
    high, low = struct.unpack(">HH", struct.pack(">f", 4.903325))
    registers = [0] * 20
    registers[0:4] = [231, 0, low, high]
    registers[4:7] = [655, 32766, 248]
    registers[10] = 0xFFFF
    block = ModbusSequentialDataBlock(1, registers)
    device = ModbusDeviceContext(ir=block, hr=ModbusSequentialDataBlock(1, registers))

    def packet(sending, data):
        if not sending:
            return data
        if mode == "transaction":
            return bytes([data[0] ^ 0x40]) + data[1:]
        if mode == "unit":
            return data[:6] + bytes([9]) + data[7:]
        if mode == "slow":
            return b""
        return data

    context = ModbusServerContext(devices={7: device}, single=False)
    server = ModbusTcpServer(context, address=("127.0.0.1", port), trace_packet=packet)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
