/* The device in this process: made when it is first opened, gone when it is last closed. */
#pragma once

int sv_process_open(void); /* 0 or errno */
void sv_process_close(void);
