/**
 * The seam: far memory without a cache. Servers and their regions, registered local memory, and queues of READ, WRITE,
 * compare-and-swap and fetch-and-add on many servers at once. A system that needs far memory in another shape than a
 * {@link io.farheap.cache.Cache} uses this package and {@code contract} alone; nothing below them (connections, control
 * calls, work requests) shows. The packages {@code queue}, {@code server} and {@code device} contain the parts of a
 * queue, of which a cache's sessions are made too.
 *
 * <p><b>Memory model.</b> A poll of its queue returns an operation's tag, with an
 * {@link io.farheap.remote.contract.Outcome}.
 *
 * <ul>
 *   <li>{@code DONE}: a READ's or an atomic's bytes are in local memory, and the polling thread sees them. A WRITE's
 *       bytes are in the server's memory: any READ of any client that is posted later finds them. Each aligned 8 bytes
 *       are read and written as one; larger ranges may tear while other operations write them.
 *   <li>Operations of a queue on one server take effect in the order of posting if their remote ranges overlap; a WRITE
 *       is fenced behind READs and atomics that it overlaps, since RDMA lets it overtake them. Between servers the only
 *       order is that of completions: a caller that needs order waits for a tag.
 *   <li>Tags return in the order of posting per server, and in no order between servers.
 *   <li>A list ({@link io.farheap.remote.RemoteQueue#beginList}) is one doorbell for each server. It promises no more
 *       than its operations one by one: it is not atomic, and after an error in it the operations before that one are
 *       done.
 *   <li>Nothing cancels an operation: its local memory belongs to the device until its tag returns. A buffer or region
 *       in use is not closed.
 *   <li>{@code UNKNOWN}: the operation was posted, and whether it took effect, or will, is not known until the server's
 *       end is fenced, which {@code disconnect} and {@code reconnect} of the queue do.
 * </ul>
 *
 * <p><b>Calls</b> ({@link io.farheap.remote.RpcQueue}) are executed by a server's thread. A queue's calls to one server
 * are executed in the order in which they were made; a call that is {@code DONE} has taken effect, and its reply is in
 * local memory. One-sided READs that are posted after the call's tag has returned find what its handler stored in a
 * region. Only tags order calls and one-sided operations with each other.
 *
 * <p><b>Shared spaces</b> ({@link io.farheap.remote.RemoteSpace}) are regions that many processes have open at once,
 * and that outlive them. All of the above also holds among their operations: once an operation of one process is
 * {@code DONE}, any READ that another process posts later finds its effect, and each atomic takes effect at one moment
 * for all processes.
 *
 * <p>A <b>paced pull</b> ({@link io.farheap.remote.server.PacedPull}) makes a server fill a region from other servers'
 * regions, as far as this process has allowed it.
 *
 * <p>Not here: the meaning of addresses, order between servers, operations that are held while a region moves, retries.
 */
@NullMarked
package io.farheap.remote;

import org.jspecify.annotations.NullMarked;
