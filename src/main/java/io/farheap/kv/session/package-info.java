/**
 * The inside of a session: requests from issue to hand-over, alone, in batches, and blocking. It stands on
 * {@code operation}; begin with {@link io.farheap.kv.session.Pipeline}.
 */
@NullMarked
package io.farheap.kv.session;

import org.jspecify.annotations.NullMarked;
