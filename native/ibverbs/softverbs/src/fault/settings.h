/* The settings of the device, as its user writes them. */
#pragma once

/* Read SOFTVERBS; 0 or errno, with a message on stderr. */
int sv_config_load(void);
