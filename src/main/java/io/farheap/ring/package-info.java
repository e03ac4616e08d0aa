/** Queues between two threads, without locks. */
@NullMarked
package io.farheap.ring;

import org.jspecify.annotations.NullMarked;
