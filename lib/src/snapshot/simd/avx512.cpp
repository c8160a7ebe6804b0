#include "any_machine.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX512)

#include "avx512.hpp"

#include "kernels.hpp"

TEEWIRE_END_LEVEL

#endif
