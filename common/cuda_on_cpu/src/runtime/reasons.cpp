#include "cuda_on_cpu/reasons.hpp"

#include "errors.hpp"

namespace cuda_on_cpu {

std::string take_reason_of_last_error() { return exchange_last_error(last_error_of_thread()); }

}  // namespace cuda_on_cpu
