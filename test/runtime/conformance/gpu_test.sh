#!/bin/bash
# Every conformance case on the emulator and on the GPU, bit for bit.
exec "$1" --device=cuda
