/**
 * System calls that the JDK has no API for: shared memory, epoll, membarrier, processor masks, direct input and output,
 * locks, io_uring; and what the system says of the machine. One class each for a purpose; errors are exceptions with
 * the call, its arguments and errno. No policy.
 */
@NullMarked
package io.farheap.posix;

import org.jspecify.annotations.NullMarked;
