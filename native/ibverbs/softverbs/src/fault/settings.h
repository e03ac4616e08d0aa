/* What the device is asked to be, in the words of its user. */
#pragma once

/* Read SOFTVERBS; 0 or errno, with a message on stderr. */
int sv_config_load(void);
