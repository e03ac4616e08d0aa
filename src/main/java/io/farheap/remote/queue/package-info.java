/**
 * The parts that a {@link io.farheap.remote.RemoteQueue}, a queue of calls and a cache's session share: connections by
 * server, posting, and completions. It uses {@code contract}; begin with {@link io.farheap.remote.queue.QueuePoster}
 * and {@link io.farheap.remote.queue.QueueCompletions}.
 */
@NullMarked
package io.farheap.remote.queue;

import org.jspecify.annotations.NullMarked;
