"""Tests the rewriter of the CPU device: rewrite_test.py REWRITER COMPILER... Prints TAP.

The conformance suite tests rewritten launches and shared memory by compiling and running whole programs. This test
checks that lines keep their numbers, and that unsupported source is refused with file and line.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

KERNEL = "__global__ void k(int* p, int v);\ntemplate <int n, typename T> __global__ void t(T* p);\n"

# A name, a source after KERNEL, and a pattern that its rewritten line must match.
REWRITTEN = {
    "a launch with arguments": ("void f(int* p) { k<<<1, 2>>>(p, 3); }",
                       r'cuda_on_cpu::launch\("k", ::cuda_on_cpu::configuration\(1, 2\), .*\{ k\('),
    "a launch without arguments": ("__global__ void e(); void f() { e<<<1, 2>>>(); }", r"\{ e\(.*\); \}\)"),
    "a launch in device code": (
        "__attribute__(()) void d(int* p) { k<<<1, 2>>>(p, 3); } void h(int* p) { k<<<1, 2>>>(p, 3); }",
        r"launch_child\(\"k\", .* void h\(int\* p\) \{ ::cuda_on_cpu::launch\(\"k\""),
    "template arguments with commas and comparisons": (
        "void f(int* p) { t<(3 > 2), int><<<1, 2>>>(p); }", r'launch\("t", .*\{ t<\(3 > 2\), int>\('),
    "shifts and templates in the configuration": (
        "template <int n> struct S {}; void f(int* p, int n) { k<<<n >> 1, dim3(n), sizeof(S<2>)>>>(p, 1); }",
        r"configuration\(n >> 1, dim3\(n\), sizeof\(S<2>\)\)"),
    "a launch with spaces inside <<< and >>>": (
        "void f(int* p, int n) { k << <n >> 1, 2 >> >(p, 3); k << < 1, 2 > >\t>(p, 4); }",
        r'configuration\(n >> 1, 2 \).*\{ k\(.*, p, 3\);.*configuration\( 1, 2 \).*\{ k\(.*, p, 4\);'),
    "template arguments after the symbol of an operator": (
        "struct S {}; template <typename T> S& operator<< (S&, T); void f(S& s) { operator<< <int>(s, 1); }",
        r"operator<< <int>\(s, 1\)"),
    "a kernel in a table": ("void f(void (**table)(int*, int), int* p) { table[1]<<<1, 1>>>(p, 2); }",
                            r"\{ table\[1\]\("),
    "launches after a colon": (
        "void f(int n, int* p) { switch (n) { case 1:k<<<1, 2>>>(p, 1); default:k<<<1, 2>>>(p, 2); } n ? k<<<1, 2>>>(p, 3) :k<<<1, 2>>>(p, 4); "
        "here:k<<<1, 2>>>(p, 5); goto here; }",
        r"case 1: ::cuda_on_cpu.*default: ::cuda_on_cpu.*n \? ::cuda_on_cpu.* : ::cuda_on_cpu.*here: ::cuda_on_cpu"),
    "a launch over several lines": ("void f(int* p) { k<<<1,\n2>>>(p,\n3); }\nint here;", r'launch\("k"'),
    "arguments without a type": ("struct P { int a, b; }; __global__ void s(P p, int* q);"
                                 " void f() { s<<<1, 1>>>({1, 2}, 0); }", r"\{ s\(\{1, 2\},\s*0\); \}"),
    "a macro whose name is also an attribute of the compiler": (
        "__noinline__ void f(); __attribute__((cold, __noinline__)) void g();",
        r"__attribute__\(\(noinline\)\) void f\(\); __attribute__\(\(cold, __noinline__\)\) void g\(\);"),
    "the dimensions of a cluster": (
        "__global__ void __cluster_dims__(2, 1, 1) c(int* p); void f(int* p) { c<<<4, 32>>>(p); }",
        r"with_cluster\(dim3\(2, 1, 1\)\)"),
    "shared memory": ("__global__ void s() { __shared__ float a[8]; a[0] = 1; }", r"static __thread float a\[8\]"),
    "dynamic shared memory": (
        "__global__ void s() { extern __shared__ alignas(16) float d[]; d[0] = 1; }",
        r"\{ float\* const d = reinterpret_cast<float\*>\(cuda_on_cpu_dynamic_shared\); d"),
    "dynamic shared memory with its specifiers in another order": (
        "__global__ void s() { extern volatile float __shared__ d[]; d[0] = 1; }",
        r"\{ volatile float\* const d = reinterpret_cast<volatile float\*>\(cuda_on_cpu_dynamic_shared\); d"),
    "a two-dimensional array in dynamic shared memory": (
        "__global__ void s() { extern __shared__ float d[][8 + 1]; d[0][1] = 1; }",
        r"\{ float \(\* const d\)\[ 8 \+ 1 \] = reinterpret_cast<float \(\*\)\[ 8 \+ 1 \]>\(cuda_on_cpu_dynamic_shared\); d"),
    "dynamic shared memory that is cast to another type": (
        "struct S { int n; }; __global__ void s() { extern __shared__ char d[]; auto& a = reinterpret_cast<S&>(d); a.n = ((S&)d).n; "
        "auto* p = reinterpret_cast<S*>(d); f(d & p->n, a && (d)); } void t(char d) { (S&)d; }",
        r"reinterpret_cast<S&>\(\*d\); a\.n = \(\(S&\)\*d\)\.n; auto\* p = reinterpret_cast<S\*>\(d\); f\(d & p->n, a && \(d\)\); \} "
        r"void t\(char d\) \{ \(S&\)d; \}"),
    "dynamic shared memory outside of functions": (
        "namespace n { extern __shared__ float d[]; __global__ void s() { d[0] = 1; } }",
        r'extern __thread float d\[\] __asm__\("cuda_on_cpu_dynamic_shared"\);'),
    "the address of a kernel in a call of the runtime": (
        "int cudaLaunchKernel(...); void f(int* p) { cudaLaunchKernel((const void*)k, 1, 2); }",
        r"cudaLaunchKernel\(k, 1, 2\)"),
    "the address of a kernel that is cast to void*": (
        "void launch_noted(); void f(const void*); void g(int* p) { f((const void*)k); f(reinterpret_cast<void*>(&t<3, int>)); f((void*)p); f((const void*)(k)); }",
        r"f\(\(const void\*\)::cuda_on_cpu::known\(k\)\); f\(reinterpret_cast<void\*>\(&::cuda_on_cpu::known\(t<3, int>\)\)\); "
        r"f\(\(void\*\)::cuda_on_cpu::known\(p\)\);"),
    "a kernel whose address is taken": (
        "void launch_noted(); __global__ void d(int* p) { *p = 1; } __global__ void e(int* p) { *p = 2; } void (*table[])(int*) = {d}; void f() { e<<<1, 1>>>(0); }",
        r"\*p = 1; \} \[\[maybe_unused\]\] static const bool cuda_on_cpu_noted_\d+ = ::cuda_on_cpu::note_kernel\(&d\);.*\*p = 2; \} "
        r"\[\[maybe_unused\]\] static constexpr auto cuda_on_cpu_overloads_e = ::cuda_on_cpu::overloads\(static_cast<void \(\*\)\(int\* p\)>\(&e\)\); void"),
    "PTX": ('__device__ void f(unsigned& x, int y) { asm volatile("shl.b32 %0, %1, 3;" : "=r"(x) : "r"(y + 1)); }',
            r"\{ ::cuda_on_cpu::ptx::shl<unsigned>\(\(x\), \(y \+ 1\), 3\); \}"),
    "PTX and instructions of the host's processor in code without a device mark": (
        'void f(unsigned& x) { asm volatile("rdtsc" : "=a"(x)); asm("not.b32 %0, %0;" : "+r"(x)); asm volatile("mfence" ::: "memory"); }',
        r'asm volatile\("rdtsc" : "=a"\(x\)\); do \{ ::cuda_on_cpu::ptx::not_<unsigned>\(\(x\), \(x\)\); \} while \(false\); '
        r'asm volatile\("mfence" ::: "memory"\);'),
    "PTX in a branch": ('__device__ void f(unsigned& x, int y) { if (y) asm("not.b32 %0, %0;" : "+r"(x)); else x = 1; }',
                        r"if \(y\) do \{ ::cuda_on_cpu::ptx::not_<unsigned>\(\(x\), \(x\)\); \} while \(false\); else x = 1;"),
    "a matrix product (mma) in PTX": (
        '__device__ void f(unsigned* d, unsigned* a, unsigned b) { asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"'
        ' : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b)); }',
        r"ptx::mma\(::cuda_on_cpu::MatrixProduct\{16, 8, (::cuda_on_cpu::ElementType::f16, ){4}false, false, false, ::cuda_on_cpu::BitOperation::none\}, "
        r"\(d\[0\]\), \(d\[1\]\), \(a\[0\]\), \(a\[1\]\), \(b\), \(d\[0\]\), \(d\[1\]\)\);"),
    "a load of matrices (ldmatrix) in PTX": (
        '__device__ void f(unsigned& a, unsigned& b, unsigned p) { asm("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2+16];"'
        ' : "=r"(a), "=r"(b) : "r"(p)); }', r"ptx::load_matrices<true>\(::cuda_on_cpu::ptx::in_shared\(\(p\), \+16\), \(a\), \(b\)\);"),
    "PTX with several instructions": (
        '__device__ void f(float* p, float& x) {\nasm("ld.global.f32 %0, [%1+4];\\n\\t"\n"membar.gl;" : "=f"(x) : "l"(p)); }',
        r"ptx::ld<float>\(\(x\), ::cuda_on_cpu::ptx::at\(::cuda_on_cpu::ptx::wide\(p\), \+4\)\); ::cuda_on_cpu::ptx::membar_gl\(\);"),
    "PTX with registers and predicates of its own": (
        '__device__ void f(float& x, unsigned n) { asm("{ .reg .pred p;\\n  .reg .b32 t<2>; setp.ne.u32 p, %1, 0;"'
        '"  @!p mov.b32 t1, %1; mov.b64 {t0, t1}, %0; cvt.u16.u8 %1, t0; }" : "+f"(x) : "r"(n)); }',
        r"\{ bool ptx_p\{\}; unsigned ptx_t0\{\}; unsigned ptx_t1\{\}; ::cuda_on_cpu::ptx::setp_ne<unsigned>\(ptx_p, \(n\), 0\); "
        r"if \(!ptx_p\) ::cuda_on_cpu::ptx::mov<unsigned>\(ptx_t1, \(n\)\); "
        r"::cuda_on_cpu::ptx::mov_apart<unsigned long>\(ptx_t0, ptx_t1, \(x\)\); "
        r"::cuda_on_cpu::ptx::cvt<unsigned short, unsigned char>\(\(n\), ptx_t0\); \}"),
    "a kernel as the function of a graph node": ("struct N { void* func; }; void f(N& n) { n.func = (void*)k; }",
                           r"n\.func = \(::cuda_on_cpu::KernelFunction\)\s*k;"),
    "kernel parameters that are not references": (
        "template <typename T> struct S {}; __global__ void r(S<int&> s, int a = 3 & 1, int (*f)(int&) = nullptr) { a = a & 1; }",
        r"void r\("),
    "shifts in a kernel": ("__attribute__(()) void s(int* p, int v) { p[v < 2] = 1 << v; p[1] >>= v; }",
                           r"1 << ::cuda_on_cpu::AsGpu\(\) << v; p\[1\] >>= ::cuda_on_cpu::AsGpu\(\) = v;"),
    "shifts by a constant below the width of the value": (
        "__attribute__(()) void s(int* p, int v) { p[0] = v << 31; p[1] <<= 3; p[2] = v >> 8 + v; }",
                           r"v << 31; p\[1\] <<= 3; p\[2\] = v >> ::cuda_on_cpu::AsGpu\(\) >> 8 \+ v;"),
    "shifts in host code, which remain unchanged": ("int f(int v) { return 1 << v; }", r"return 1 << v;"),
    "shifts in a device lambda": (
        "template <typename F> void g(F f); void f() { g([] __attribute__(()) (int v) { return 1 >> v; }); int v = 1 << v; }",
        r"\[\]\s*\(int v\) \{ return 1 >> ::cuda_on_cpu::AsGpu\(\) >> v; \}\); int v = 1 << v;"),
    "shifts after initialisers in braces": (
        "struct A { int a, b; __attribute__(())  A(int v) : a{v}, b{v} { a = 1 << v; } int f() { return 1 << a; } };",
        r"1 << ::cuda_on_cpu::AsGpu\(\) << v; \} int f\(\) \{ return 1 << a; \}"),
    "shifts and templates in a kernel": (
        "template <typename A> struct S { int x; }; __attribute__(()) void s(int* p, int v) { S<S<int>> a{v}; p[0] = a.x < 3 >> v; }",
        r"S<S<int>> a\{v\}; p\[0\] = a\.x < 3 >> ::cuda_on_cpu::AsGpu\(\) >> v;"),
    "shifts of bit-fields, which remain unchanged": (
        "struct F { unsigned a : 3, b : 4; int c; }; __attribute__(()) void s(F& f, int v) { f.b <<= v; f.c <<= v; int x = v ? v : f.c << v, y = f.a << v; }",
        r"f\.b <<= v; f\.c <<= ::cuda_on_cpu::AsGpu\(\) = v; int x = v \? v : f\.c << ::cuda_on_cpu::AsGpu\(\) << v, y = f\.a << v;"),
    "shifts of variables that only look like bit-fields": (
        "struct A { int v; A(int n) : v(n) {} }; __attribute__(()) void s(int* p, int v) { for (int q : {1}) switch (v) { case 1: p[0] = q << v; } }",
        r"p\[0\] = q << ::cuda_on_cpu::AsGpu\(\) << v;"),
    "fold expressions with <<, which remain unchanged": (
        "template <typename... T> __attribute__(()) int s(T... v) { return (v << ...) + (1 << ... << v); }",
        r"return \(v << \.\.\.\) \+ \(1 << \.\.\. << v\);"),
    "stream operators, which remain unchanged, next to shifts": (
        "struct S {}; extern S cin; __attribute__(()) void s(int v) { cin >> v; v >>= v; }",
        r"cin >> v; v >>= ::cuda_on_cpu::AsGpu\(\) = v;"),
    "device loops that only wait for a volatile variable": (
        "struct V { volatile int f; }; __attribute__(()) void s(int volatile* p, V& v, int n) {\n"
        "while ((n = p[0]) == 1) {}\nfor (int i = 0; v.f <= 0 && i < n; ++i) continue;\ndo {} while (*(volatile int*)&n);\nwhile (v.f) { __nanosleep(n); } }",
        r"while \(BEGIN\(\(n = p\[0\]\) == 1END\) \{\}\nfor \(int i = 0;BEGIN\( v\.f <= 0 && i < nEND; \+\+i\) continue;\n"
        r"do \{\} while \(BEGIN\(\*\(volatile int\*\)&nEND\);\nwhile \(BEGIN\(v\.fEND\) \{ __nanosleep\(n\); \}"
        .replace("BEGIN", r"::cuda_on_cpu::wait_begins\(\), ::cuda_on_cpu::wait_ends\(").replace("END", r"\) \? true : false\)")),
    "device loops that do more than wait, which remain unchanged": (
        "int h(volatile int* p) { while (*p) {} } __attribute__(()) void s(volatile int* p, int* q, int n) {\n"
        "while (p[0]) { ++n; }\nwhile (q[n++]) {}\nfor (int i : {1}) {}\ndo { ++n; } while (p[0]);\ndo ++n; while (p[0]);\nwhile (int v = p[0]) {}\n"
        "for (volatile int i = 0; i < n; i = i + 1) {}\nwhile (p++[0]) {} }",
        r"\{ while \(\*p\) \{\} \} .*\nwhile \(p\[0\]\) \{ \+\+n; \}\nwhile \(q\[n\+\+\]\) \{\}\nfor \(int i : \{1\}\) \{\}\n"
        r"do \{ \+\+n; \} while \(p\[0\]\);\ndo \+\+n; while \(p\[0\]\);\nwhile \(int v = p\[0\]\) \{\}\n"
        r"for \(volatile int i = 0; i < n; i = i \+ 1\) \{\}\nwhile \(p\+\+\[0\]\) \{\}"),
    "host loops that poll a volatile variable": (
        "int g(volatile int* p) { while (*p) {} } namespace cuda_on_cpu { void host_looks(); } void h(volatile int* p, int n) {\n"
        "while (*p) { n += 1; }\ndo { n += 1; } while (p[0] < n);\nfor (; *p; ++n) n += 1;\nwhile (n) {}\nwhile (int v = *p) {}\n"
        "for (volatile int i = 0; i < n; ++i) {} } __attribute__(()) void s(volatile int* p, int n) { while (*p) n += 1; }",
        r"g\(volatile int\* p\) \{ while \(\*p\) \{\} \} .*\nwhile \(LOOK\*p\) \{ n \+= 1; \}\ndo \{ n \+= 1; \} while \(LOOKp\[0\] < n\);\n"
        r"for \(;LOOK \*p; \+\+n\) n \+= 1;\nwhile \(n\) \{\}\nwhile \(int v = \*p\) \{\}\n"
        r"for \(volatile int i = 0; i < n; \+\+i\) \{\} \} .*\{ while \(\*p\) n \+= 1; \}".replace("LOOK", r"::cuda_on_cpu::host_looks\(\), ")),
    "calls of member templates without the keyword template": (
        "template <typename T> struct C { template <int n> static int f(int); template <int n, typename U> int g(int); }; int f(int);\n"
        "template <typename T> int h(C<T>& c, C<T>* p) { int a = 2 * n::C<T>::f<1>(3); return C<T>::f<1>(c.g<2, T*>(4)) + p->g<(3 > 2), C<int>>(5); }\n"
        "template <typename T> __attribute__(()) int d() { return 2 * n::C<T>::f<1>(3); }",
        r"int a = 2 \* n::C<T>::f<1>\(3\); return C<T>::template f<1>\(c\.template g<2, T\*>\(4\)\) \+ p->template g<\(3 > 2\), C<int>>\(5\); \}\n"
        r".*return 2 \* n::C<T>::template f<1>\(3\);"),
    "an alias with the name of its class template": (
        "namespace n { template <typename T> class C; template <typename T> using A = T*; struct S { using C = C<int>; using A = A<int>; using B = C; }; }",
        r"using C = struct C<int>; using A = A<int>; using B = C;"),
    "comparisons and definitions that look like calls of member templates, which remain unchanged": (
        "template <typename T> struct C { int x; template <int n> T* f(int); };\n"
        "template <> template <> int* C<int>::f<3>(int) { return 0; } template C<int> n::C<C<int>>::f<3>(int);\n"
        "bool h(C<int> c, int v) { return c.x<v && v>(3) || c.x < v > (3) || c.x<v || C<int>::n<v, v; }",
        r"int\* C<int>::f<3>\(int\) \{ return 0; \} template C<int> n::C<C<int>>::f<3>\(int\);\n"
        r".*return c\.x<v && v>\(3\) \|\| c\.x < v > \(3\) \|\| c\.x<v \|\| C<int>::n<v, v; \}"),
    "a string that looks like a launch, which remains unchanged": (
        'const char* s = "k<<<1, 2>>>(p, 3)";', r's = "k<<<1, 2>>>\(p, 3\)"'),
    "a raw string, which remains unchanged": ('const char* s = R"x(k<<<1)x";', r'R"x\(k<<<1\)x"'),
    "digit separators": ("int million = 1'000'000; void f(int* p) { k<<<1, 1>>>(p, 1'0); }", r"k\("),
}

# A header of CUB, and patterns that the rewritten header must match.
CUB = """#pragma GCC system_header
template <typename T> struct Layout {};
template <typename T> struct Load {
  using Layout = Layout<T>;
  T& storage() { __shared__ T shared; return shared; }
  void load(T* p) { ThreadStore<STORE_VOLATILE>(p, ThreadLoad<LOAD_VOLATILE>(p)); }
  void add(unsigned& x) {
#pragma GCC unroll 65534
    for (int i = 0; i < 4; ++i) asm volatile("add.u32 %0, %0, 1;" : "+r"(x));
    asm("exit;");
  }
};
template <int how> struct Modifier<LOAD_VOLATILE> {};
"""
OF_CUB = (r"using Layout = ::cub::Layout<T>;", r"static __thread T shared;", r"ThreadStore<STORE_DEFAULT>\(p, ThreadLoad<LOAD_DEFAULT>\(p\)\)",
          r"for \(int i = 0; i < 4; \+\+i\) do \{ ::cuda_on_cpu::ptx::add<unsigned>\(\(x\), \(x\), 1\); \} while \(false\);",
          r'::cuda_on_cpu::no_instructions\("exit;"\);', r"Modifier<LOAD_VOLATILE>")

# A rewriting under analysis, which adds a guard after a variable.
AFTER_GUARD = ("dynamic shared memory after another shared variable, under analysis",
               "__global__ void s() { __shared__ bool a; extern float __shared__ d[]; d[0] = a; }",
               r"static __thread __attribute__\(\(used\)\) bool a; "
               r"static __thread char \w+\[256\] __attribute__\(\(used\)\); float\* const d = ")

# A name, a source after KERNEL, the line of the error, and a word of the message.
REFUSED = {
    "unsupported PTX": ('\n__attribute__(()) void f() {\n  asm volatile("setmaxnreg.inc.sync.aligned.u32 40;");\n}', 5,
                        "STAIRCASE_CUDA_ON_CPU"),
    "a matrix product whose shape PTX does not have": (
        '__attribute__(()) void f(int x) { asm("mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 %0, %0, %0, %0;" : "+r"(x)); }', 3,
        "PTX matrix product mma.sync"),
    "a matrix fragment with the wrong number of registers": (
        '__attribute__(()) void f(int x) { asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %0}, {%0, %0}, {%0}, {%0, %0};"'
        ' : "+r"(x)); }', 3,
        "operand 2 of PTX instruction mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 must be 1, not 2"),
    "a load of matrices of bytes in PTX": (
        '__attribute__(()) void f(unsigned x) { asm("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %0}, [%0];"'
        ' : "+r"(x)); }', 3, "only matrices m8n8 of b16"),
    "PTX with a label": ('__attribute__(()) void f() { asm("again: bra again;"); }', 3, "labels"),
    "an unknown type of PTX": ('__attribute__(()) void f() { asm("{ .reg .f16x2 p; }"); }', 3, ".f16x2"),
    "an unknown special register of PTX": (
        '__attribute__(()) void f(int x) { asm("mov.u32 %0, %%envreg3;" : "=r"(x)); }', 3, "%envreg3"),
    "a launch without >>>": ("\nvoid f(int* p) { k<<<1, 2; }", 4, "'>>>'"),
    "a launch without an argument list": ("void f(int* p) { k<<<1, 2>>>; }", 3, "argument list"),
    "a launch of an expression that is not a name": ("void f(int* p) { 5<<<1, 2>>>(p); }", 3, "not the name of a kernel"),
    "dynamic shared memory that is not an array": ("__global__ void s() { extern __shared__ float d; }", 3, "array"),
    "a reference as a kernel's parameter": (
        "namespace n { template <typename T>\n__global__ void r(const T* p,\nT& sum) { sum += p[0]; } }", 5, "'r'"),
    "an array as a kernel's parameter": ("__global__ void r(int (&p)[4]);", 3, "reference"),
    "a cluster without a kernel": ("struct __cluster_dims__(2) S;", 3, "kernel"),
}


def rewrite(rewriter, compiler, source, header=""):
    """Rewrites a source, which may include a header. Returns exit status, output and messages."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / "cub").mkdir()
        (path / "cub" / "load.cuh").write_text(header)
        (path / "source.cu").write_text(source)
        command = [rewriter, path / "source.cu", path / "out.cpp", path / "out.d", *compiler]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        out = path / "out.cpp"
        return result.returncode, out.read_text() if out.exists() else "", result.stderr


def after_header(rewriter, compiler):
    """Yields problems of sources that are rewritten after a common header, which is rewritten once for all of them."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / "made").mkdir()
        (path / "once.hpp").write_text("#pragma once\nextern int only_once;\n")
        (path / "header.cuh").write_text(KERNEL + '#include "once.hpp"\n'
                                         "__attribute__(()) int of_header;\n"
                                         "__attribute__(()) int shifted(int v, int n) { return v << n; }\n"
                                         "inline void launch(int* p) { k<<<1, 2>>>(p, 3); }\n")

        def run(*words):
            command = [pathlib.Path(rewriter).resolve(), *words[:3], *compiler, "-DCUDA_ON_CPU_ANALYSE", *words[3:]]
            subprocess.run(command, cwd=path, check=True)

        def source(name, text):
            (path / name).with_suffix(".cu").write_text(text)
            run(f"{name}.cu", f"made/{name}.cpp", f"{name}.d", "--behind", "header.cuh", "header.hpp", "-I.")
            return (path / "made" / name).with_suffix(".cpp").read_text()

        run("header.cuh", "header.hpp", "header.d", "--header")
        header = (path / "header.hpp").read_text()
        if "AsGpu" not in header or "launch(\"k\"" not in header or "device_names" in header:
            yield f"the rewritten header is wrong: {header}"
        if "header.hpp:" not in (path / "header.d").read_text() or "header.cuh" not in (path / "header.d").read_text():
            yield "header.d does not list the header that was rewritten"
        text = source("short", '#include "once.hpp"\n\n__attribute__(()) int of_source = 1;\n')
        if not text.startswith('#include "../header.hpp"\n') or "of_header" in text.split("device_names")[0]:
            yield f"the rewritten source does not begin with an include of the rewritten header: {text}"
        if line_numbers(text).get(3, "").strip() != "int of_source = 1;" or "only_once" in text:
            yield f"the rewritten source has lost lines or repeats lines of a header: {text}"
        if not re.search(r"device_names.*of_header.*of_source", text):
            yield "the rewritten source does not register the device names of the header"
        if "header.cuh" not in (path / "short.d").read_text():
            yield "short.d does not list the header"
        text = source("whole", "struct F { unsigned v : 3; };\n__attribute__(()) int other(F& f, int n) { return f.v << n; }\n")
        if "#include" in text or "return v << n" in header or "return v << n" not in text:
            yield f"a source that changes the rewriting of the header must contain the header itself, but is {text}"


def line_numbers(text):
    """Returns the lines of a text by the line numbers that its markers define."""
    numbered, number = {}, 1
    for line in text.split("\n"):
        marker = re.match(r'# (\d+) "', line)
        if marker:
            number = int(marker[1])
        else:
            if not numbered.get(number):
                numbered[number] = line
            number += 1
    return numbered


def main():
    rewriter, *compiler = sys.argv[1:]
    print(f"1..{len(REWRITTEN) + len(REFUSED) + 5}")
    for name, (source, expected) in REWRITTEN.items():
        status, text, _ = rewrite(rewriter, compiler, KERNEL + source + "\nint last_line;\n")
        last = (KERNEL + source).count("\n") + 2
        kept = line_numbers(text).get(last, "").strip() == "int last_line;"
        passed = status == 0 and kept and re.search(expected, text)
        print(f"{'ok' if passed else 'not ok'} - the rewriter handles {name}")
    for words in [], ["-DCUDA_ON_CPU_ANALYSE"]:
        status, text, _ = rewrite(rewriter, compiler + words, "void enters_host_function();\n" + KERNEL + "__attribute__(()) void last() {}\n\n")
        print(f"{'ok' if status == 0 and 'last' in text else 'not ok'} - "
              f"the rewriter handles a kernel at the end of its file{', with analysis' * bool(words)}")
    name, source, expected = AFTER_GUARD
    status, text, diagnostics = rewrite(rewriter, [*compiler, "-DCUDA_ON_CPU_ANALYSE"], source)
    print(f"{'ok' if status == 0 and re.search(expected, text) else 'not ok'} - "
          f"the rewriter handles {name}  # {diagnostics}")
    status, text, diagnostics = rewrite(rewriter, compiler, '#include "cub/load.cuh"' + 98 * "\n" + "int line_99;\n", CUB)
    missing = [expected for expected in OF_CUB if not re.search(expected, text)]
    passed = status == 0 and not missing and "unroll" not in text and line_numbers(text).get(99, "") == "int line_99;"
    print(f"{'ok' if passed else 'not ok'} - the rewriter handles a header of CUB"
          + ("" if passed else f"  # {missing} {diagnostics}"))
    wrong = list(after_header(rewriter, compiler))
    print(f"{'not ok' if wrong else 'ok'} - the rewriter handles sources after a common header"
          + (f"  # {wrong}" if wrong else ""))
    for name, (source, line, word) in REFUSED.items():
        status, text, diagnostics = rewrite(rewriter, compiler, KERNEL + source + "\n")
        passed = status != 0 and not text and f"source.cu:{line}: error: " in diagnostics and word in diagnostics
        print(f"{'ok' if passed else 'not ok'} - {name} is refused" + ("" if passed else f"  # {diagnostics}"))


main()
