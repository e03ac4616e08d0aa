/**
 * Threads that poll message rings and serve their batches, and the gate by which another thread takes a ring or a
 * region away. They run the work of the process's services; begin with {@link io.farheap.server.thread.ServerThread}.
 */
@NullMarked
package io.farheap.server.thread;

import org.jspecify.annotations.NullMarked;
