/* The C ABI: every function, and every way in which it fails. */
#include "check.h"

void test_codec(void);
void test_snapshot(void);
void test_delta(void);
void test_transfer(void);
void test_demo(void);
void test_table(void);
void test_archive(void);

int main(void) {
    cap_cpu_from_environment();
    test_codec();
    test_snapshot();
    test_delta();
    test_transfer();
    test_demo();
    test_table();
    test_archive();
    give_back();
    printf("%d checks, %d failed\n", checks, failed_checks);
    return failed_checks != 0 || checks < 300;
}
