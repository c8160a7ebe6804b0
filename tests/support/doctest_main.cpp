#define DOCTEST_CONFIG_IMPLEMENT
#include "cpu_level.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
    test::cap_cpu_level_from_environment();
    return doctest::Context{argc, argv}.run();
}
