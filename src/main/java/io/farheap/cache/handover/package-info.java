/**
 * Requests that application threads hand over to a client thread, and get back with a status. It stands on
 * {@code session} and {@code order}; begin with {@link io.farheap.cache.handover.HandoverRing}, which says how the two
 * threads meet.
 */
@NullMarked
package io.farheap.cache.handover;

import org.jspecify.annotations.NullMarked;
