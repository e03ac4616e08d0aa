/** Queues between two threads, without locks. */
package io.farheap.ring;
