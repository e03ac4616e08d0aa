/**
 * Threads: duty cycles, the gate between a structure's owner and others, idling, pinning, joining. What the threads do
 * belongs elsewhere.
 */
@NullMarked
package io.farheap.thread;

import org.jspecify.annotations.NullMarked;
