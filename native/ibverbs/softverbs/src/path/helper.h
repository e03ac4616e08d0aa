/* The body of the helper thread. */
#pragma once

void *sv_helper(void *unused);
