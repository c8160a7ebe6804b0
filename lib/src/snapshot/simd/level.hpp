// The vector interface of the level that kernels are compiled for, which LEVEL.cpp of this folder chooses. Opened by
// itself, as by an editor, a kernel has the scalar one.
#pragma once

#ifndef TEEWIRE_LEVEL
#include "scalar.hpp"
#endif
