/**
 * Threads that poll message rings and serve their batches, and the gate that lets others take a ring or a region away.
 * It stands on the services of the process; begin with {@link io.farheap.server.thread.ServerThread}.
 */
@NullMarked
package io.farheap.server.thread;

import org.jspecify.annotations.NullMarked;
