/**
 * A session from the inside: requests from where they are made to where they are handed over, alone, in batches, and
 * with a thread that waits. It stands on {@code operation}; begin with {@link io.farheap.kv.session.Pipeline}.
 */
@NullMarked
package io.farheap.kv.session;

import org.jspecify.annotations.NullMarked;
