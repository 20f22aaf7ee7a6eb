"""Serves a GGUF model by llama.cpp's OpenAI-compatible server: serve.py MODEL.gguf PORT THREADS."""

import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
# one conversation after the other: four at once wrote no more tokens a second in sum, and each of their
# places has to read the beginning that all conversations share
# a question with the agent's tools takes five to six thousand tokens
parameters.n_ctx = 32768
parameters.n_parallel = 1
parameters.cpuparams.n_threads = int(sys.argv[3])
parameters.cpuparams_batch.n_threads = int(sys.argv[3])
parameters.port = int(sys.argv[2])
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
