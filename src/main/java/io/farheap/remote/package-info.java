/**
 * The seam: far memory without a cache. Servers and their regions, registered local memory, and queues of READ, WRITE,
 * compare-and-swap and fetch-and-add on many servers at once. Whoever needs far memory in another shape than a
 * {@link io.farheap.cache.Cache} stands on this package and on {@code contract} alone; nothing of what is below them
 * (connections, control calls, work requests) shows. What a queue is made of is in the rooms {@code queue},
 * {@code server} and {@code device}, and a cache's sessions are made of the same.
 *
 * <p><b>Memory model.</b> An operation's tag comes back, with an {@link io.farheap.remote.contract.Outcome}, from a
 * poll of its queue.
 *
 * <ul>
 *   <li>{@code DONE}: a READ's or an atomic's bytes are in local memory, and the polling thread sees them. A WRITE's
 *       bytes are in the server's memory: any READ of any client that is posted later finds them. Each aligned 8 bytes
 *       are read and written as one; larger ones may tear while others write.
 *   <li>Operations of a queue on one server take effect in the order of posting where their remote ranges overlap; a
 *       WRITE is fenced behind READs and atomics that it overlaps, since RDMA lets it overtake them. Between servers
 *       there is no order but that of completions: who needs one waits for a tag.
 *   <li>Tags return in the order of posting per server, in none between servers.
 *   <li>A list ({@link io.farheap.remote.RemoteQueue#beginList}) is one doorbell for each server. It promises no more
 *       than its operations one by one: it is not atomic, and an error in it leaves what stood before it done.
 *   <li>Nothing cancels an operation: its local memory is the device's until its tag returns. A buffer or region in use
 *       is not closed.
 *   <li>{@code UNKNOWN}: the operation was posted, and whether it took effect, or will, is not known until the server's
 *       end is fenced, which {@code disconnect} and {@code reconnect} of the queue do.
 * </ul>
 *
 * <p><b>Calls</b> ({@link io.farheap.remote.RpcQueue}) are executed by a server's thread. A queue's calls to one server
 * are executed in the order in which they were made; a call that is {@code DONE} has taken effect, and its reply is in
 * local memory. What a handler stores in a region, one-sided READs find that are posted after the call's tag has come
 * back. Calls and one-sided operations are not ordered with each other but by tags.
 *
 * <p><b>Shared spaces</b> ({@link io.farheap.remote.RemoteSpace}) are regions that many processes have open at once,
 * and that outlive them. All of the above holds among their operations, too: what one process has seen {@code DONE} any
 * READ finds that another posts later, and each atomic takes effect at one moment for all.
 *
 * <p>A <b>paced pull</b> ({@link io.farheap.remote.server.PacedPull}) has a server fill a region with what others have,
 * as far as this process has let it.
 *
 * <p>Does not belong here: what addresses mean, order between servers, what is held while a region moves, retries.
 */
@NullMarked
package io.farheap.remote;

import org.jspecify.annotations.NullMarked;
