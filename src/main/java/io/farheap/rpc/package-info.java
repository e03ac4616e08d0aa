/**
 * Message rings, both ends: requests travel in batches, by one-sided WRITEs into the server's memory, and answers
 * return in the same way (Redy, section 4.2). A request reads or writes a record of a region, or calls an operation.
 *
 * <ul>
 *   <li>{@link io.farheap.rpc.message.BatchFormat} defines the words of a batch, {@link io.farheap.rpc.RingShape} the
 *       layout of the rings;
 *   <li>{@link io.farheap.rpc.MessageRing} is the server's end, which a server thread drives, and explains the
 *       protocol; the client's end is in {@code batch}; both ends post with a
 *       {@link io.farheap.rpc.message.RingQueuePair};
 *   <li>{@link io.farheap.rpc.RpcHandler} is an operation, which a server registers under a number and clients call.
 * </ul>
 *
 * <p>Neither end trusts the other: every field that the other end may write is read once, checked, and then used. Not
 * here: threads, leases and the holders of regions ({@code server}), tags and reconnection ({@code remote}).
 */
@NullMarked
package io.farheap.rpc;

import org.jspecify.annotations.NullMarked;
