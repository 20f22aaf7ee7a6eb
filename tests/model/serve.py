"""Serves a GGUF model by llama.cpp's OpenAI-compatible server: serve.py MODEL.gguf PORT AT_ONCE."""

import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
# conversations at once: the weights are read from memory once for a token of each of them
at_once = int(sys.argv[3])
parameters.n_ctx = 8192 * at_once
parameters.n_parallel = at_once
# one core, so that what runs beside it keeps the others
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.port = int(sys.argv[2])
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
