/**
 * A session from the inside: the gate, the thread that owns it, the checks of each request and call, waiting, and the
 * data path that it uses now. It stands on {@code calls} and both paths; begin with
 * {@link io.farheap.cache.session.SessionRequests} (the way in) and {@link io.farheap.cache.session.SessionCore} (the
 * gate).
 */
@NullMarked
package io.farheap.cache.session;

import org.jspecify.annotations.NullMarked;
