/* The helper thread: what it does once it is awake. */
#pragma once

void *sv_helper(void *unused);
