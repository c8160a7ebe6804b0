#ifndef WORKLOADS_H
#define WORKLOADS_H

#include <stdint.h>

/* A pair of snapshots, in ints. */
struct workload {
    char const* name;
    int32_t const* from;
    int32_t const* to;
    uint32_t from_size, to_size;
};

#ifdef __cplusplus
extern "C" {
#endif
void add_recorded_workloads(char const* folder);
int get_workload(uint32_t number, struct workload* out);
#ifdef __cplusplus
}
#endif

#endif
