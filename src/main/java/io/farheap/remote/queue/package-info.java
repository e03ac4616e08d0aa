/**
 * What a {@link io.farheap.remote.RemoteQueue}, a queue of calls and a cache's session are made of: connections by
 * server, posting, and completions. It stands on {@code contract}; begin with
 * {@link io.farheap.remote.queue.QueuePoster} and {@link io.farheap.remote.queue.QueueCompletions}.
 */
@NullMarked
package io.farheap.remote.queue;

import org.jspecify.annotations.NullMarked;
