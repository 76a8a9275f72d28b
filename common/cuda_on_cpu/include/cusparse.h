/// \file
/// Replaces the header of cuSPARSE, which the CPU device does not cover, by an error.

#error "cuSPARSE is not covered by the CPU device; cuda-on-cpu --explain lists the libraries that are"
