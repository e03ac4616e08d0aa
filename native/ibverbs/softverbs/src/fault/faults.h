/* Faults that touch more than the operation at hand. */
#pragma once
#include <stdbool.h>

void sv_link_change(bool down);
void sv_nic_gone(void);
