/// \file
/// Replaces the header of cuSPARSE by an error, because the CPU device does not support cuSPARSE.

#error "cuSPARSE is not covered by the CPU device; cuda-on-cpu --explain lists the libraries that are"
