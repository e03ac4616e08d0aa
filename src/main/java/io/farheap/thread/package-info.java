/**
 * Threads: duty cycles, the gate between an object's owner and other threads, idling, pinning, joining. The packages
 * that use them define the work.
 */
@NullMarked
package io.farheap.thread;

import org.jspecify.annotations.NullMarked;
