/* The keys of regions and windows. Under the keys lock. */
#pragma once
#include <stdint.h>

struct sv_mr;

int sv_mr_claim(struct sv_mr *mr);
uint32_t sv_mr_new_key(uint32_t index);
