#include "any_machine.hpp"

#include "scalar.hpp"

#include "kernels.hpp"
