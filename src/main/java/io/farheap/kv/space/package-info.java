/**
 * A map's memory as one process sees it: its regions, READs of its table, the operations that a session posts, with the
 * columns of the requests that it posts for and the connections that it makes again. It stands on {@code format} and
 * {@code remote}; begin with {@link io.farheap.kv.space.SpaceMemory}, then {@link io.farheap.kv.space.RequestPoster}.
 */
@NullMarked
package io.farheap.kv.space;

import org.jspecify.annotations.NullMarked;
