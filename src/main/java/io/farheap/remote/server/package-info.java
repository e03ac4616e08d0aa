/**
 * A client's objects at one memory server: the lease, the connections and message rings under it with their fences, the
 * links of sessions, queues and calls to servers, and pulls of regions between servers. It uses {@code contract}; begin
 * with {@link io.farheap.remote.server.LeasedServer} and {@link io.farheap.remote.server.ServerLinks}.
 */
@NullMarked
package io.farheap.remote.server;

import org.jspecify.annotations.NullMarked;
