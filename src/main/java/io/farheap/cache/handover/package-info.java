/**
 * Requests that application threads hand over to a client thread, and get back with a status. The package uses
 * {@code session} and {@code order}; begin with {@link io.farheap.cache.handover.HandoverRing}, which describes how the
 * two threads share a slot.
 */
@NullMarked
package io.farheap.cache.handover;

import org.jspecify.annotations.NullMarked;
