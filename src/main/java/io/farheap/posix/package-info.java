/**
 * System calls that have no API in the JDK: shared memory, epoll, membarrier, processor masks, direct input and output,
 * locks, io_uring; and properties of the machine. One class for each purpose; errors are exceptions with the call, its
 * arguments and errno. No policy.
 */
@NullMarked
package io.farheap.posix;

import org.jspecify.annotations.NullMarked;
