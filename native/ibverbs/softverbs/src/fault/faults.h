/* Faults of more than one operation. */
#pragma once
#include <stdbool.h>

void sv_link_change(bool down);
void sv_nic_gone(void);
