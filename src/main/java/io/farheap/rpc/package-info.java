/**
 * Message rings, both ends: requests travel in batches, by one-sided WRITEs into the server's memory, and answers come
 * back in the same way (Redy, section 4.2). A request reads or writes a record of a region, or calls an operation.
 *
 * <ul>
 *   <li>{@link io.farheap.rpc.message.BatchFormat} is what is written, {@link io.farheap.rpc.RingShape} where;
 *   <li>{@link io.farheap.rpc.MessageRing} is the server's end, which a server thread drives; the client's end is in
 *       {@code batch}; either end posts by its {@link io.farheap.rpc.message.RingQueuePair};
 *   <li>{@link io.farheap.rpc.RpcHandler} is an operation: what a server registers under a number and clients call.
 * </ul>
 *
 * <p>Each end takes the other for a stranger: every field that the other may write is read once, checked, and then
 * used. Not here: threads, leases and who holds what ({@code server}), tags and reconnection ({@code remote}).
 */
@NullMarked
package io.farheap.rpc;

import org.jspecify.annotations.NullMarked;
