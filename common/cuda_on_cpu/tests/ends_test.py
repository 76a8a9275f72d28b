"""Tests that the report is written however a program ends: ends_test.py COMMAND. Prints TAP."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

COMMAND = pathlib.Path(sys.argv[1]).resolve()
SECONDS = 120  # time limit of a program
# The kernel writes beyond its allocation. Then the program ends in the way named by its argument.
SOURCE = """#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
__global__ void past_the_end(int* x) {
  x[threadIdx.x + 1] = 1;
}
__global__ void forever(volatile int* x) {
  printf("runs\\n");
  while (x[0] >= 0) x[1] = x[0] + 1;
}
__global__ void divide(int* x) {
  x[0] = 7 / x[threadIdx.x];
}
int main(int, char** argv) {
  const std::string how = argv[1];
  setvbuf(stdout, nullptr, _IONBF, 0);
  int *x, last = 0;
  cudaMalloc(&x, 128);
  cudaMemset(x, 0, 128);
  past_the_end<<<1, 32>>>(x);
  if (how != "abort before a wait") {
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    if (cudaMemcpy(&last, x, sizeof last, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  }
  if (how == "assert") assert(last == 1);
  if (how.rfind("abort", 0) == 0) std::abort();
  if (how == "exception") throw std::runtime_error("nobody catches it");
  if (how == "_exit") _exit(0);
  if (how == "_exit with a status") _exit(5);
  if (how == "_Exit") std::_Exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "null of the host") *reinterpret_cast<volatile int*>(last) = 1;
  if (how == "wait") {
    printf("waits\\n");
    for (;;) pause();
  }
  if (how == "kernel") {
    forever<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
  }
  if (how == "division") {
    divide<<<1, 32>>>(x);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }
  if (how.rfind("signal ", 0) == 0) raise(std::atoi(how.c_str() + 7));
  return 0;
}
"""
# The argument of the program, its exit status, and the signal that it receives after it has printed that it is ready.
ENDS = [
    ("return", 1, None),
    ("assert", -signal.SIGABRT, None),
    ("abort", -signal.SIGABRT, None),
    ("abort before a wait", -signal.SIGABRT, None),
    ("exception", -signal.SIGABRT, None),
    ("_exit", 1, None),
    ("_exit with a status", 5, None),
    ("_Exit", 1, None),
    ("quick_exit", 1, None),
    ("null of the host", -signal.SIGSEGV, None),
    (f"signal {int(signal.SIGBUS)}", -signal.SIGBUS, None),
    (f"signal {int(signal.SIGTERM)}", -signal.SIGTERM, None),
    ("wait", -signal.SIGINT, signal.SIGINT),
    ("wait", -signal.SIGTERM, signal.SIGTERM),
    ("kernel", -signal.SIGINT, signal.SIGINT),
    ("division", 1, None),
]


def run(program, how, sent):
    """Returns the exit status, the output, and the findings of the report, by kind and line."""
    report = program.with_suffix(".json")
    report.unlink(missing_ok=True)
    process = subprocess.Popen([program, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=program.parent,
                               env={**os.environ, "CUDA_ON_CPU_REPORT": str(report)})
    if sent is not None:
        process.stdout.readline()
        process.send_signal(sent)
    try:
        output, messages = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, f"the program did not end within {SECONDS} s", set()
    findings = json.loads(report.read_text())["errors"] if report.exists() else []
    return process.returncode, output + messages, {(finding["kind"], finding["line"]) for finding in findings}


def line_of(text):
    return 1 + SOURCE.split("\n").index(text)


def main():
    print(f"1..{len(ENDS)}")
    with tempfile.TemporaryDirectory() as directory:
        source, program = pathlib.Path(directory, "ends.cu"), pathlib.Path(directory, "ends")
        source.write_text(SOURCE)
        subprocess.run([COMMAND, "--analyze", source, "-o", program], check=True)
        for number, (how, expected, sent) in enumerate(ENDS, 1):
            status, output, findings = run(program, how, sent)
            wanted = {("out of bounds", line_of("  x[threadIdx.x + 1] = 1;"))}
            if how == "division":
                wanted.add(("trap", line_of("  x[0] = 7 / x[threadIdx.x];")))
            passed = status == expected and findings == wanted and "out of bounds: writes 4 bytes" in output
            by = "" if sent is None else f" and gets {sent.name}"
            print(f"{'ok' if passed else 'not ok'} {number} - "
                  f"a program that ends with '{how}'{by} writes its report", flush=True)
            if not passed:
                lines = [f"the exit status is {status}, not {expected}", f"the report has {findings}", *output.splitlines()]
                print("".join(f"# {line}\n" for line in lines), end="")


main()
