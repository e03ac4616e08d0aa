/**
 * What a client has at one memory server: the lease, connections and message rings under it with their fences, the
 * links that sessions, queues and calls keep to servers, and pulls of regions between servers. It stands on
 * {@code contract}; begin with {@link io.farheap.remote.server.LeasedServer} and
 * {@link io.farheap.remote.server.ServerLinks}.
 */
@NullMarked
package io.farheap.remote.server;

import org.jspecify.annotations.NullMarked;
